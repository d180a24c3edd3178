//! The paper's definitions, executed: one thread at a time, one command at a time, happens-before by transitive closure.
//! Small and direct; shares nothing with the checker but the meaning.
//!
//! Departures from Figure 4: a generation that nobody syncs at (arrivals alone) is complete for those who know all its arrivals;
//! mbarriers, with the three rules that stand in `src/machine.rs`.

use std::collections::{BTreeMap, BTreeSet, HashSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Read,
    Write,
    Atomic,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Command {
    Access {
        kind: Kind,
        address: u32,
        size: u32,
    },
    Arrive {
        barrier: usize,
        count: u32,
    },
    Sync {
        barrier: usize,
        count: u32,
    },
    /// A barrier of exactly these threads; those that have returned count as come.
    Meet {
        barrier: usize,
        members: Vec<usize>,
    },
    MbarrierArrive {
        mbarrier: usize,
    },
    /// An asynchronous write of the group that its thread commits next.
    GroupCopy {
        address: u32,
        size: u32,
    },
    Commit,
    /// Waits for all its groups but the last `left`.
    WaitGroup {
        left: usize,
    },
    /// Expects bytes; `arrives`: and arrives.
    MbarrierExpect {
        mbarrier: usize,
        bytes: i32,
        arrives: bool,
    },
    /// An asynchronous write that goes on by itself, and counts its bytes when it is over.
    Copy {
        mbarrier: usize,
        bytes: i32,
        address: u32,
        size: u32,
    },
    MbarrierWait {
        mbarrier: usize,
        parity: u32,
    },
}

/// Thread programs, and for each mbarrier its count.
#[derive(Debug, Clone)]
pub struct Cta {
    pub threads: Vec<Vec<Command>>,
    pub barriers: usize,
    pub mbarriers: Vec<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Barrier {
    generation: u32,
    count: Option<u32>,
    synced: Vec<usize>,
    arrived: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    at: Vec<usize>,
    disabled: Vec<bool>,
    barriers: Vec<Barrier>,
    /// Phase, pending arrivals, pending bytes.
    mbarriers: Vec<(u32, u32, i32)>,
    /// Copies under way.
    copies: Vec<At>,
    /// A barrier completed without threads that had returned.
    without_returned: bool,
}

/// A command: thread, index.
pub type At = (usize, usize);
type Generations = BTreeMap<At, u32>;

enum Step {
    Blocked,
    Error,
    To(State, Option<(At, u32)>),
}

impl Cta {
    fn initial(&self) -> State {
        let mut state = State {
            at: vec![0; self.threads.len()],
            disabled: vec![false; self.threads.len()],
            barriers: vec![Barrier::default(); self.barriers],
            mbarriers: self.mbarriers.iter().map(|&n| (0, n, 0)).collect(),
            copies: Vec::new(),
            without_returned: false,
        };
        self.recycle(&mut state);
        state
    }

    fn is_done(&self, state: &State) -> bool {
        (0..self.threads.len()).all(|t| state.at[t] == self.threads[t].len())
    }

    /// The rules of Section 3.3 for one thread; the rule that recycles is applied at once, as it must be.
    fn step(&self, state: &State, thread: usize) -> Step {
        if state.disabled[thread] {
            return Step::Blocked;
        }
        let at = state.at[thread];
        let Some(command) = self.threads[thread].get(at) else {
            return Step::Blocked;
        };
        let mut next = state.clone();
        let mut generation = None;
        match command {
            Command::Access { .. } => next.at[thread] += 1,
            Command::Arrive { barrier, count } => {
                let b = &mut next.barriers[*barrier];
                if *b.count.get_or_insert(*count) != *count {
                    return Step::Error;
                }
                generation = Some(((thread, at), b.generation + 1));
                b.arrived += 1;
                next.at[thread] += 1;
            }
            Command::Sync { barrier, count } => {
                let b = &mut next.barriers[*barrier];
                if *b.count.get_or_insert(*count) != *count {
                    return Step::Error;
                }
                generation = Some(((thread, at), b.generation + 1));
                b.synced.push(thread);
                b.synced.sort_unstable();
                next.disabled[thread] = true;
            }
            Command::Meet { barrier, members } => {
                let b = &mut next.barriers[*barrier];
                b.count = Some(members.len() as u32);
                generation = Some(((thread, at), b.generation + 1));
                b.synced.push(thread);
                b.synced.sort_unstable();
                next.disabled[thread] = true;
            }
            Command::MbarrierArrive { mbarrier } => {
                generation = Some(((thread, at), next.mbarriers[*mbarrier].0 + 1));
                if !self.update(&mut next, *mbarrier, 0, true) {
                    return Step::Error;
                }
                next.at[thread] += 1;
            }
            Command::MbarrierExpect { mbarrier, bytes, arrives } => {
                generation = Some(((thread, at), next.mbarriers[*mbarrier].0 + 1));
                if !self.update(&mut next, *mbarrier, *bytes, *arrives) {
                    return Step::Error;
                }
                next.at[thread] += 1;
            }
            Command::Commit => next.at[thread] += 1,
            Command::WaitGroup { left } => {
                let under_way = |copy: &At| {
                    copy.0 == thread && self.commits(thread, copy.1) + left < self.commits(thread, at)
                };
                if state.copies.iter().any(under_way) {
                    return Step::Blocked;
                }
                next.at[thread] += 1;
            }
            Command::Copy { .. } | Command::GroupCopy { .. } => {
                next.copies.push((thread, at));
                next.copies.sort_unstable();
                next.at[thread] += 1;
            }
            Command::MbarrierWait { mbarrier, parity } => {
                let phase = next.mbarriers[*mbarrier].0;
                if phase % 2 == *parity {
                    return Step::Blocked;
                }
                // It saw the phase before the present one; from 1 on, so that 0 is the one before the first.
                generation = Some(((thread, at), phase));
                next.at[thread] += 1;
            }
        }
        self.recycle(&mut next);
        Step::To(next, generation)
    }

    /// Changes what an mbarrier waits for; false: an arrival too many.
    fn update(&self, state: &mut State, mbarrier: usize, bytes: i32, arrives: bool) -> bool {
        let (phase, pending, missing) = &mut state.mbarriers[mbarrier];
        if arrives && *pending == 0 {
            return false;
        }
        *pending -= u32::from(arrives);
        *missing += bytes;
        if *pending == 0 && *missing == 0 {
            *phase += 1;
            *pending = self.mbarriers[mbarrier];
        }
        true
    }

    /// One of the copies under way is over.
    fn finish(&self, state: &State, copy: usize) -> Step {
        let mut next = state.clone();
        let at = next.copies.remove(copy);
        let Command::Copy { mbarrier, bytes, .. } = &self.threads[at.0][at.1] else {
            return Step::To(next, None);
        };
        let generation = next.mbarriers[*mbarrier].0 + 1;
        self.update(&mut next, *mbarrier, -bytes, false);
        Step::To(next, Some((at, generation)))
    }

    /// Commits of a thread before one of its commands.
    fn commits(&self, thread: usize, at: usize) -> usize {
        self.threads[thread][..at].iter().filter(|c| **c == Command::Commit).count()
    }

    fn moves(&self, state: &State) -> impl Iterator<Item = Step> {
        let threads = (0..self.threads.len()).map(|t| self.step(state, t));
        threads.chain((0..state.copies.len()).map(|c| self.finish(state, c)))
    }

    fn recycle(&self, state: &mut State) {
        loop {
            let State { at, barriers, .. } = &*state;
            let returned = |t: &usize| at[*t] == self.threads[*t].len();
            let come = |index: usize, b: &Barrier| {
                let gone = match b.synced.first().map(|&t| &self.threads[t][at[t]]) {
                    Some(Command::Meet { barrier, members }) if *barrier == index => {
                        members.iter().filter(|t| returned(t)).count() as u32
                    }
                    _ => 0,
                };
                (b.synced.len() as u32 + b.arrived, gone)
            };
            let full = (0..barriers.len()).find(|&i| {
                let (here, gone) = come(i, &barriers[i]);
                barriers[i].count == Some(here + gone)
            });
            let Some(full) = full else { return };
            state.without_returned |= come(full, &barriers[full]).1 > 0;
            let b = &mut state.barriers[full];
            let woken = std::mem::take(&mut b.synced);
            *b = Barrier { generation: b.generation + 1, ..Barrier::default() };
            for thread in woken {
                state.disabled[thread] = false;
                state.at[thread] += 1;
            }
        }
    }
}

/// What all executions together show.
#[derive(Debug, Default)]
pub struct Everything {
    pub deadlock: bool,
    pub error: bool,
    pub generations_differ: bool,
    pub without_returned: bool,
    /// Pairs of conflicting accesses that occur in both orders.
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
    let mut first_seen = BTreeSet::new();
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
    let both = |&(a, b): &(At, At)| first_seen.contains(&(a, b)) && first_seen.contains(&(b, a));
    all.races = conflicts(&accesses).filter(both).collect();
    Some(all)
}

/// Place, kind, address, size, whether it is a copy.
type Access = (At, Kind, u32, u32, bool);

fn accesses(cta: &Cta) -> Vec<Access> {
    let mut all = Vec::new();
    for (thread, commands) in cta.threads.iter().enumerate() {
        for (index, command) in commands.iter().enumerate() {
            match command {
                Command::Access { kind, address, size } => {
                    all.push(((thread, index), *kind, *address, *size, false));
                }
                Command::Copy { address, size, .. } | Command::GroupCopy { address, size } => {
                    all.push(((thread, index), Kind::Write, *address, *size, true));
                }
                _ => {}
            }
        }
    }
    all
}

/// Pairs of accesses of two threads (or of a thread and a copy) that share a byte and are neither both reads nor both atomics; the lower thread first.
fn conflicts(all: &[Access]) -> impl Iterator<Item = (At, At)> {
    let conflict = |a: &Access, b: &Access| {
        a.0 < b.0
            && (a.0.0 != b.0.0 || a.4 || b.4)
            && a.2 < b.2 + b.3
            && b.2 < a.2 + a.3
            && (a.1 != b.1 || a.1 == Kind::Write)
    };
    all.iter().flat_map(move |a| all.iter().filter(move |b| conflict(a, b)).map(|b| (a.0, b.0)))
}

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
        Command::Access { .. } | Command::GroupCopy { .. } | Command::Commit | Command::WaitGroup { .. } => {
            None
        }
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
