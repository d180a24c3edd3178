//! What is left to know of all accesses that one location has had, in a few bits.
//!
//! Source: Jacobson, Burtscher, Gopalakrishnan: "HiRace: Accurate and Fast Source-Level Race Checking of GPU Programs" (SC'24),
//! section III. Its machine has 25 states and 1,200 transitions, which the paper does not list. This one is derived: a
//! [`Summary`] says what the rules of happens-before need to know of a history, [`Summary::step`] is these rules, and
//! [`table`] makes the smallest machine of it that answers all histories alike: 21 states, 1,008 transitions. As the paper's, it tells
//! atomics of block scope from wider ones.
//!
//! `tests/history.rs` holds it against whole histories: all executions of two blocks of two warps of two threads up to eight
//! steps, which are 3,428,564 histories.
//!
//! # The rules
//! Two accesses of one location race where they conflict and nothing orders them.
//! - They conflict unless both read, or both are atomic and the scope of each takes in the other's thread.
//! - A thread's accesses are in order. So are those of a warp before and behind one of its barriers, and those of a block before
//!   and behind one of its. Nothing orders threads of different blocks.
//!
//! # Why so little is enough
//! What counts is who has accessed since the last barrier that all of them have passed. While there is no race, accesses that
//! nothing orders do not conflict: they all read, or are all atomic. So one of their threads stands for all, with how
//! far apart they are ([`Summary::spread`]), and it does not matter which one.

pub mod table;
pub mod word;

/// What an access does to its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Action {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It is atomic among threads of its block.
    BlockAtomic,
    /// It is atomic among all threads.
    GridAtomic,
}

impl Action {
    /// All of them, in the order of their numbers.
    pub const ALL: [Action; 4] = [Action::Read, Action::Write, Action::BlockAtomic, Action::GridAtomic];

    /// Whether two such accesses conflict, if nothing orders them.
    pub fn conflicts(self, other: Action, different_blocks: bool) -> bool {
        Kinds::of(self).conflicts(other, different_blocks)
    }
}

/// How the accessing thread stands to the one that accessed last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Apart {
    /// It is the same one.
    Thread,
    /// Another one of its warp.
    Warp,
    /// One of another warp of its block.
    Block,
    /// One of another block.
    Grid,
}

impl Apart {
    /// All of them, in the order of their numbers.
    pub const ALL: [Apart; 4] = [Apart::Thread, Apart::Warp, Apart::Block, Apart::Grid];
}

/// Which barrier the accessing thread has passed since the last access: the widest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Since {
    /// None.
    Nothing,
    /// One of its warp. Orders threads of the warp alone.
    WarpBarrier,
    /// One of its block.
    BlockBarrier,
}

impl Since {
    /// All of them, in the order of their numbers.
    pub const ALL: [Since; 3] = [Since::Nothing, Since::WarpBarrier, Since::BlockBarrier];

    /// Whether it orders the thread behind the last access.
    pub fn orders(self, apart: Apart) -> bool {
        match apart {
            Apart::Thread => true,
            Apart::Warp => self >= Since::WarpBarrier,
            Apart::Block => self >= Since::BlockBarrier,
            Apart::Grid => false,
        }
    }
}

/// What some accesses did, as far as it matters to who comes unordered behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kinds {
    /// They all read.
    Reads,
    /// All are atomic, among all threads.
    GridAtomics,
    /// All are atomic, some among threads of their block only.
    Atomics,
    /// Anything else: no access goes with it.
    Mixed,
}

impl Kinds {
    fn of(action: Action) -> Kinds {
        match action {
            Action::Read => Kinds::Reads,
            Action::Write => Kinds::Mixed,
            Action::BlockAtomic => Kinds::Atomics,
            Action::GridAtomic => Kinds::GridAtomics,
        }
    }

    fn and(self, action: Action) -> Kinds {
        match (self, Kinds::of(action)) {
            (one, other) if one == other => one,
            (Kinds::GridAtomics | Kinds::Atomics, Kinds::GridAtomics | Kinds::Atomics) => Kinds::Atomics,
            _ => Kinds::Mixed,
        }
    }

    /// Whether an access conflicts with one of them. `different_blocks`: it is of another block than they are.
    pub fn conflicts(self, action: Action, different_blocks: bool) -> bool {
        match (self, action) {
            (Kinds::Reads, Action::Read) | (Kinds::GridAtomics, Action::GridAtomic) => false,
            (Kinds::GridAtomics | Kinds::Atomics, Action::BlockAtomic | Action::GridAtomic) => {
                different_blocks
            }
            _ => true,
        }
    }
}

/// A history without a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Summary {
    /// How far apart the threads are whose accesses nothing orders behind each other: those since the last barrier.
    pub spread: Apart,
    /// What was done since the last barrier of the warp; where the spread is wider, as [`Summary::block`].
    pub warp: Kinds,
    /// What was done since the last barrier of the block; where the spread is the grid, as [`Summary::all`].
    pub block: Kinds,
    /// What was ever done.
    pub all: Kinds,
}

impl Summary {
    /// That of a first access.
    pub fn first(action: Action) -> Summary {
        let kinds = Kinds::of(action);
        Summary { spread: Apart::Thread, warp: kinds, block: kinds, all: kinds }
    }

    /// The threads among which there is no order for who accesses now.
    pub fn unordered(self, apart: Apart, since: Since) -> Apart {
        match (self.spread.max(apart), since) {
            (Apart::Grid, _) => Apart::Grid,
            (_, Since::BlockBarrier) => Apart::Thread,
            (Apart::Block, _) => Apart::Block,
            (_, Since::WarpBarrier) => Apart::Thread,
            (unordered, Since::Nothing) => unordered,
        }
    }

    /// The history with one more access; None where that one races with one before.
    pub fn step(self, action: Action, apart: Apart, since: Since) -> Option<Summary> {
        let (warp, block, all) = (self.warp.and(action), self.block.and(action), self.all.and(action));
        let only = Kinds::of(action);
        match self.unordered(apart, since) {
            Apart::Grid => {
                let fits = !self.all.conflicts(action, true);
                fits.then_some(Summary { spread: Apart::Grid, warp: all, block: all, all })
            }
            Apart::Block => {
                let fits = !self.block.conflicts(action, false);
                fits.then_some(Summary { spread: Apart::Block, warp: block, block, all })
            }
            Apart::Warp => {
                let fits = !self.warp.conflicts(action, false);
                fits.then_some(Summary { spread: Apart::Warp, warp, block, all })
            }
            Apart::Thread => Some(match since {
                Since::BlockBarrier => Summary { spread: Apart::Thread, warp: only, block: only, all },
                Since::WarpBarrier => Summary { spread: Apart::Thread, warp: only, block, all },
                Since::Nothing => Summary { spread: Apart::Thread, warp, block, all },
            }),
        }
    }
}
