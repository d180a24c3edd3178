//! A chain as it runs: where it is, what it knows and what it has done.

use super::known::Known;
use crate::chains::GROUPS;

/// Where a chain's groups of asynchronous copies stand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GroupState {
    pub epoch: u32,
    pub waited: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// Waits at a barrier (index into `barriers`) or an mbarrier (its component).
    AtBarrier(u32),
    AtMbarrier(u32),
    AtCluster,
    /// Waits until its warpgroup has committed so many groups.
    AtWarpgroup(u32),
    /// Waits at a barrier for the rest of its own warp.
    Gathering(u32),
    Finished,
}

/// A chain as it runs.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(super) at: Position,
    pub(super) registrations: u32,
    pub(super) known: Known,
    pub(super) state: State,
    pub(super) last_wait: Option<u32>,
    pub(super) copies: Copies,
    /// What relaxed arrivals and waits at mbarriers carry; none where there was no fence for them.
    pub(super) relaxed: Option<Box<Relaxed>>,
    pub(super) cluster: Meeting,
    pub(super) exited: u32,
}

impl Runner {
    /// A chain that has done nothing, and knows it. `exited`: lanes that are not there.
    pub(super) fn new(known: Known, exited: u32) -> Runner {
        Runner {
            at: Position::default(),
            registrations: 0,
            known,
            state: State::Ready,
            last_wait: None,
            copies: Copies::default(),
            relaxed: None,
            cluster: Meeting::default(),
            exited,
        }
    }
}

/// How far a chain is in its warp's program.
#[derive(Debug, Default)]
pub(super) struct Position {
    /// Index into the warp's synchronising commands.
    pub(super) next: usize,
    /// First command whose accesses are still to be made.
    pub(super) accesses_from: usize,
}

/// A chain's groups of asynchronous copies and multiplications.
#[derive(Debug, Default)]
pub(super) struct Copies {
    pub(super) groups: [GroupState; GROUPS],
    /// Epochs at which groups were committed.
    pub(super) commits: [Vec<u32>; GROUPS],
    /// What was done in time when groups of `wgmma` were committed.
    pub(super) committed: Vec<Vec<u32>>,
}

/// What a chain has to do with its cluster's barrier.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// The generation that it arrived at and has not waited for.
    pub(super) arrived: Option<u32>,
    /// It has waited there.
    pub(super) met: bool,
}

/// What relaxed arrivals and waits of a chain carry.
#[derive(Debug, Default)]
pub(super) struct Relaxed {
    /// What a relaxed arrival releases: what was known at the last fence.
    pub(super) released: Known,
    /// What relaxed waits have seen and no fence has acquired.
    pub(super) seen: Known,
}
