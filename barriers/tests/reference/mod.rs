//! The paper's definitions, executed: one thread at a time, one command at a time, happens-before by transitive closure.
//! Small and direct; shares nothing with the checker but the meaning.
//!
//! Departures from Figure 4: a generation that nobody syncs at (arrivals alone) is complete for those who know all its arrivals;
//! mbarriers, with the three rules that stand in `src/machine.rs`.

mod closure;
mod explore;

use std::collections::{BTreeMap, BTreeSet, HashSet};

pub use closure::*;
pub use explore::*;

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
    /// A read that goes on by itself, of the group that its thread commits next: a thread's part in a multiplication.
    Multiply {
        address: u32,
        size: u32,
    },
    CommitProducts,
    /// Waits for all groups but the last `left` of those that it has committed, and for the same of all other threads that multiply.
    WaitProducts {
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
    /// Adds 1 to a flag in memory, and releases.
    Raise {
        flag: usize,
    },
    /// Waits until a flag is so much, and acquires.
    Poll {
        flag: usize,
        least: u32,
    },
    Lock,
    Unlock,
}

impl Command {
    /// Whether it is one of flags or locks in memory, which closures know nothing of.
    pub fn is_of_flags(&self) -> bool {
        matches!(self, Command::Raise { .. } | Command::Poll { .. } | Command::Lock | Command::Unlock)
    }
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
    flags: [u32; 2],
    locked: bool,
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
            flags: [0; 2],
            locked: false,
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
            Command::Commit | Command::CommitProducts => next.at[thread] += 1,
            Command::WaitGroup { left } => {
                let under_way = |copy: &At| {
                    copy.0 == thread
                        && !matches!(self.threads[copy.0][copy.1], Command::Multiply { .. })
                        && self.commits(thread, copy.1) + left < self.commits(thread, at)
                };
                if state.copies.iter().any(under_way) {
                    return Step::Blocked;
                }
                next.at[thread] += 1;
            }
            Command::WaitProducts { left } => {
                let groups = self.products(thread, at).saturating_sub(*left);
                let ready = |other: usize| {
                    !self.threads[other].contains(&Command::CommitProducts)
                        || self.products(other, state.at[other]) >= groups
                };
                let under_way = |copy: &At| {
                    matches!(self.threads[copy.0][copy.1], Command::Multiply { .. })
                        && self.products(copy.0, copy.1) < groups
                };
                if !(0..self.threads.len()).all(ready) || state.copies.iter().any(under_way) {
                    return Step::Blocked;
                }
                next.at[thread] += 1;
            }
            Command::Copy { .. } | Command::GroupCopy { .. } | Command::Multiply { .. } => {
                next.copies.push((thread, at));
                next.copies.sort_unstable();
                next.at[thread] += 1;
            }
            Command::Raise { flag } => {
                next.flags[*flag] += 1;
                next.at[thread] += 1;
            }
            Command::Poll { flag, least } if next.flags[*flag] < *least => return Step::Blocked,
            Command::Lock if next.locked => return Step::Blocked,
            Command::Poll { .. } => next.at[thread] += 1,
            Command::Lock | Command::Unlock => {
                next.locked = *command == Command::Lock;
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

    /// Groups of products that a thread has committed before one of its commands.
    fn products(&self, thread: usize, at: usize) -> usize {
        self.threads[thread][..at].iter().filter(|c| **c == Command::CommitProducts).count()
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
                Command::Multiply { address, size } => {
                    all.push(((thread, index), Kind::Read, *address, *size, true));
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
