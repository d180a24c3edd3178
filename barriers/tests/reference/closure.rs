//! The definitions of sections 3 and 4 on one execution: happens-before by transitive closure, well-synchronised, races.

use super::*;

/// What one execution and Figure 4 say.
#[derive(Debug)]
pub enum Reference {
    Deadlock,
    Error,
    NotWellSynchronised,
    WellSynchronised { races: BTreeSet<(At, At)> },
}

/// One execution (`choose` picks among so many threads that can move), then Figure 4.
pub fn reference(cta: &Cta, mut choose: impl FnMut(usize) -> usize) -> Reference {
    let mut state = cta.initial();
    let mut generations = Generations::new();
    loop {
        let mut moves = Vec::new();
        for step in cta.moves(&state) {
            match step {
                Step::Blocked => {}
                Step::Error => return Reference::Error,
                Step::To(next, generation) => moves.push((next, generation)),
            }
        }
        if moves.is_empty() {
            break;
        }
        let (next, generation) = moves.swap_remove(choose(moves.len()));
        generations.extend(generation);
        state = next;
    }
    if !cta.is_done(&state) {
        return Reference::Deadlock;
    }
    let phases: Vec<u32> = state.mbarriers.iter().map(|m| m.0).collect();
    let closure = Closure::new(cta, &generations);
    if !well_synchronised(cta, &generations, &closure, &phases) {
        return Reference::NotWellSynchronised;
    }
    let accesses = accesses(cta);
    let unordered = |&(a, b): &(At, At)| !closure.has(a, b) && !closure.has(b, a);
    Reference::WellSynchronised { races: conflicts(&accesses).filter(unordered).collect() }
}

/// The relation R of Figure 4, closed; reflexive.
struct Closure {
    first: Vec<usize>,
    related: Vec<Vec<bool>>,
}

enum Role {
    Arrives(usize),
    Syncs(usize),
    MbarrierArrives(usize),
    MbarrierWaits(usize),
}

fn role(command: &Command) -> Option<Role> {
    match command {
        Command::Access { .. }
        | Command::GroupCopy { .. }
        | Command::Commit
        | Command::WaitGroup { .. }
        | Command::Multiply { .. }
        | Command::CommitProducts
        | Command::WaitProducts { .. }
        | Command::Raise { .. }
        | Command::Poll { .. }
        | Command::Lock
        | Command::Unlock => None,
        Command::Arrive { barrier, .. } => Some(Role::Arrives(*barrier)),
        Command::Sync { barrier, .. } | Command::Meet { barrier, .. } => Some(Role::Syncs(*barrier)),
        Command::MbarrierArrive { mbarrier }
        | Command::MbarrierExpect { mbarrier, .. }
        | Command::Copy { mbarrier, .. } => Some(Role::MbarrierArrives(*mbarrier)),
        Command::MbarrierWait { mbarrier, .. } => Some(Role::MbarrierWaits(*mbarrier)),
    }
}

fn all_commands(cta: &Cta) -> Vec<At> {
    let thread = |t: usize| (0..cta.threads[t].len()).map(move |i| (t, i));
    (0..cta.threads.len()).flat_map(thread).collect()
}

impl Closure {
    fn new(cta: &Cta, generations: &Generations) -> Closure {
        let mut first = vec![0];
        for thread in &cta.threads {
            first.push(first[first.len() - 1] + thread.len());
        }
        let n = first[cta.threads.len()];
        let mut closure = Closure { first, related: vec![vec![false; n]; n] };
        let all = all_commands(cta);
        for &a in &all {
            closure.add(a, a);
            if a.1 + 1 < cta.threads[a.0].len() {
                closure.add(a, (a.0, a.1 + 1));
            }
            for &b in &all {
                let same = generations.get(&a) == generations.get(&b);
                let roles = (role(&cta.threads[a.0][a.1]), role(&cta.threads[b.0][b.1]));
                let related = match roles {
                    (Some(Role::Arrives(x) | Role::Syncs(x)), Some(Role::Syncs(y))) => x == y,
                    (Some(Role::MbarrierArrives(x)), Some(Role::MbarrierWaits(y))) => x == y,
                    _ => false,
                };
                if related && same {
                    closure.add(a, b);
                }
            }
        }
        for k in 0..n {
            for i in 0..n {
                if closure.related[i][k] {
                    for j in 0..n {
                        closure.related[i][j] |= closure.related[k][j];
                    }
                }
            }
        }
        closure
    }

    fn add(&mut self, a: At, b: At) {
        let (a, b) = (self.first[a.0] + a.1, self.first[b.0] + b.1);
        self.related[a][b] = true;
    }

    fn has(&self, a: At, b: At) -> bool {
        self.related[self.first[a.0] + a.1][self.first[b.0] + b.1]
    }
}

fn well_synchronised(cta: &Cta, generations: &Generations, r: &Closure, phases: &[u32]) -> bool {
    let all = all_commands(cta);
    let roles = |at: &At| role(&cta.threads[at.0][at.1]);
    // All of `earlier` happen before the point just before `at`.
    let before = |earlier: &[At], at: At| earlier.iter().all(|&e| at.1 > 0 && r.has(e, (at.0, at.1 - 1)));
    all.iter().all(|&at| {
        let Some(&generation) = generations.get(&at) else {
            return true;
        };
        let of = |wanted: u32, matches: &dyn Fn(Role) -> bool| -> Vec<At> {
            let fits = |a: &&At| generations.get(*a) == Some(&wanted) && roles(a).is_some_and(matches);
            all.iter().filter(fits).copied().collect()
        };
        match roles(&at) {
            None => true,
            Some(Role::Arrives(b) | Role::Syncs(b)) => {
                let syncs = of(generation - 1, &|r| matches!(r, Role::Syncs(x) if x == b));
                let arrivals = of(generation - 1, &|r| matches!(r, Role::Arrives(x) if x == b));
                before(if syncs.is_empty() { &arrivals } else { &syncs }, at)
            }
            Some(Role::MbarrierArrives(m)) => {
                before(&of(generation - 1, &|r| matches!(r, Role::MbarrierArrives(x) if x == m)), at)
            }
            Some(Role::MbarrierWaits(m)) => {
                let arrivals = |g| of(g, &|r| matches!(r, Role::MbarrierArrives(x) if x == m));
                let next_completes = phases[m] > generation;
                before(&if generation > 1 { arrivals(generation - 1) } else { Vec::new() }, at)
                    && (!next_completes || arrivals(generation + 1).iter().any(|&a| r.has(at, a)))
            }
        }
    })
}
