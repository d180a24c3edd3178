//! The machine of histories against all of a history: every interleaving of accesses and barriers of a small grid.
//!
//! The grid has two blocks of two warps of two threads. The reference keeps every access with the vector clock of its thread, and
//! knows nothing of summaries, scalar clocks or states. The machine sees what a shadow word holds: a state, the last thread and
//! the two clocks of its warp.

use std::collections::HashSet;

use bugaroo_semantics::history::table::{HistoryMachine, StateNumber, UNTOUCHED, input};
use bugaroo_semantics::history::{Action, Apart, Since};

const THREADS: usize = 8;
const WARPS: usize = 4;
const BLOCKS: usize = 2;

fn warp(thread: usize) -> usize {
    thread / 2
}

fn block(thread: usize) -> usize {
    thread / 4
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Access(usize, Action),
    WarpBarrier(usize),
    BlockBarrier(usize),
}

fn ops() -> Vec<Op> {
    let accesses =
        (0..THREADS).flat_map(|thread| Action::ALL.into_iter().map(move |action| Op::Access(thread, action)));
    let barriers = (0..WARPS).map(Op::WarpBarrier).chain((0..BLOCKS).map(Op::BlockBarrier));
    accesses.chain(barriers).collect()
}

type Clock = [u8; THREADS];

/// All accesses, and what each thread knows of the others.
#[derive(Clone)]
struct Reference {
    clocks: [Clock; THREADS],
    accesses: Vec<(usize, Action, u8)>,
}

impl Reference {
    fn new() -> Reference {
        let mut clocks = [[0; THREADS]; THREADS];
        (0..THREADS).for_each(|thread| clocks[thread][thread] = 1);
        Reference { clocks, accesses: Vec::new() }
    }

    /// Whether it races with any access before.
    fn access(&mut self, thread: usize, action: Action) -> bool {
        let races = |(other, before, at): &(usize, Action, u8)| {
            let knows = *other == thread || self.clocks[thread][*other] >= *at;
            let atomic = |one: Action| matches!(one, Action::BlockAtomic | Action::GridAtomic);
            let among = |one: Action| one == Action::GridAtomic || block(*other) == block(thread);
            let both_read = action == Action::Read && *before == Action::Read;
            let both_atomic = atomic(action) && atomic(*before) && among(action) && among(*before);
            !knows && !both_read && !both_atomic
        };
        let found = self.accesses.iter().any(races);
        self.accesses.push((thread, action, self.clocks[thread][thread]));
        found
    }

    fn meet(&mut self, threads: impl Iterator<Item = usize> + Clone) {
        let mut all = [0; THREADS];
        for thread in threads.clone() {
            (0..THREADS).for_each(|other| all[other] = all[other].max(self.clocks[thread][other]));
        }
        for thread in threads {
            self.clocks[thread] = all;
            self.clocks[thread][thread] += 1;
        }
    }

    /// What is left to matter of it: for each thread, which of its accesses each other thread does not know.
    fn key(&self) -> Vec<u32> {
        let mut key = vec![0; THREADS * Action::ALL.len()];
        for (thread, action, at) in &self.accesses {
            let known = (0..THREADS)
                .filter(|other| *other == *thread || self.clocks[*other][*thread] >= *at)
                .fold(0_u32, |known, other| known | 1 << other);
            // Accesses with the same knowers are one; there are at most a few kinds of knowers, a bit each.
            let place = &mut key[thread * Action::ALL.len() + *action as usize];
            *place |= 1 << known.count_ones();
        }
        key
    }
}

/// What a shadow word and the clocks beside it hold.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Word {
    state: StateNumber,
    last: usize,
    clocks: (u8, u8),
    block_clocks: [u8; BLOCKS],
    warp_clocks: [u8; WARPS],
}

impl Word {
    fn access(&mut self, thread: usize, action: Action) -> bool {
        let apart = match self.last {
            last if last == thread => Apart::Thread,
            last if warp(last) == warp(thread) => Apart::Warp,
            last if block(last) == block(thread) => Apart::Block,
            _ => Apart::Grid,
        };
        let now = (self.block_clocks[block(thread)], self.warp_clocks[warp(thread)]);
        let since = if now.0 > self.clocks.0 {
            Since::BlockBarrier
        } else if now.0 == self.clocks.0 && now.1 > self.clocks.1 {
            Since::WarpBarrier
        } else {
            Since::Nothing
        };
        let machine = HistoryMachine::get();
        self.state = machine.step(self.state, input(action, apart, since));
        (self.last, self.clocks) = (thread, now);
        self.state == machine.race()
    }

    /// Clocks as far as they matter: what the last access's are next to those of its warp and block now.
    fn key(&self) -> (StateNumber, usize, bool, bool) {
        let (block, warp) = (self.block_clocks[block(self.last)], self.warp_clocks[warp(self.last)]);
        (self.state, self.last, block > self.clocks.0, warp > self.clocks.1)
    }
}

/// Goes through all executions of so many steps, each history once. Returns how many histories there were, and steps.
fn explore(depth: usize) -> (usize, u64) {
    let first = Word {
        state: UNTOUCHED,
        last: 0,
        clocks: (0, 0),
        block_clocks: [0; BLOCKS],
        warp_clocks: [0; WARPS],
    };
    let mut seen = HashSet::new();
    let mut level = vec![(Reference::new(), first)];
    let mut steps = 0;
    for _ in 0..depth {
        let mut next = Vec::new();
        for (reference, word) in &level {
            for op in ops() {
                let (mut reference, mut word) = (reference.clone(), word.clone());
                steps += 1;
                match op {
                    Op::Access(thread, action) => {
                        let races = reference.access(thread, action);
                        let found = word.access(thread, action);
                        assert_eq!(races, found, "{:?}, then {op:?}", reference.accesses);
                        if races {
                            continue;
                        }
                    }
                    Op::WarpBarrier(of) => {
                        reference.meet((0..THREADS).filter(move |thread| warp(*thread) == of));
                        word.warp_clocks[of] += 1;
                    }
                    Op::BlockBarrier(of) => {
                        reference.meet((0..THREADS).filter(move |thread| block(*thread) == of));
                        word.block_clocks[of] += 1;
                        (0..WARPS).filter(|one| one / 2 == of).for_each(|one| word.warp_clocks[one] = 0);
                    }
                }
                if seen.insert((reference.key(), word.key())) {
                    next.push((reference, word));
                }
            }
        }
        level = next;
    }
    (seen.len(), steps)
}

#[test]
fn the_machine_answers_as_the_whole_history_does() {
    let (histories, steps) = explore(6);
    assert!(histories > 100_000 && steps > 1_000_000, "{histories} histories, {steps} steps");
}

#[test]
#[ignore = "half a minute: the figure of the documents"]
fn the_machine_answers_as_the_whole_history_does_at_eight_steps() {
    let (histories, steps) = explore(8);
    assert_eq!((histories, steps), (3_428_564, 39_675_534));
}
