//! Every interleaving of a small program, and what happens in any of them.

use super::*;

/// What all executions together show.
#[derive(Debug, Default)]
pub struct Everything {
    pub deadlock: bool,
    pub error: bool,
    pub generations_differ: bool,
    pub without_returned: bool,
    /// Pairs of conflicting accesses that occur in both orders; with flags or locks, those that can come right one after the other.
    pub races: BTreeSet<(At, At)>,
}

impl Everything {
    pub fn well_synchronised(&self) -> bool {
        !self.deadlock && !self.error && !self.generations_differ
    }
}

/// Explores every interleaving. `None`: more states than `limit`.
pub fn explore(cta: &Cta, limit: usize) -> Option<Everything> {
    let mut all = Everything::default();
    let mut generations = Generations::new();
    let mut seen = HashSet::new();
    let mut stack = vec![cta.initial()];
    seen.insert(stack[0].clone());
    let accesses = accesses(cta);
    let flags = cta.threads.iter().flatten().any(Command::is_of_flags);
    let (mut first_seen, mut together) = (BTreeSet::new(), BTreeSet::new());
    while let Some(state) = stack.pop() {
        if seen.len() > limit {
            return None;
        }
        all.without_returned |= state.without_returned;
        for (a, b) in conflicts(&accesses) {
            let done = |at: At| state.at[at.0] > at.1 && !state.copies.contains(&at);
            if done(a) && !done(b) {
                first_seen.insert((a, b));
            }
            if done(b) && !done(a) {
                first_seen.insert((b, a));
            }
            if [a, b].iter().all(|at| state.at[at.0] == at.1) {
                together.insert((a, b));
            }
        }
        let mut moved = false;
        for step in cta.moves(&state) {
            match step {
                Step::Blocked => {}
                Step::Error => {
                    all.error = true;
                    moved = true;
                }
                Step::To(next, generation) => {
                    moved = true;
                    if let Some((at, number)) = generation {
                        all.generations_differ |= *generations.entry(at).or_insert(number) != number;
                    }
                    if seen.insert(next.clone()) {
                        stack.push(next);
                    }
                }
            }
        }
        all.deadlock |= !moved && !cta.is_done(&state);
    }
    let both = |&(a, b): &(At, At)| match flags {
        true => together.contains(&(a, b)),
        false => first_seen.contains(&(a, b)) && first_seen.contains(&(b, a)),
    };
    all.races = conflicts(&accesses).filter(both).collect();
    Some(all)
}
