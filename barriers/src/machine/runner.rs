//! A chain as it runs: where it is, what it knows and what it has done.

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
    /// Index into the warp's synchronising commands.
    pub(super) next: usize,
    /// First command whose accesses are still to be made.
    pub(super) accesses_from: usize,
    pub(super) registrations: u32,
    pub(super) clock: Vec<u32>,
    pub(super) fenced: Vec<u32>,
    pub(super) state: State,
    pub(super) last_wait: Option<u32>,
    pub(super) groups: [GroupState; GROUPS],
    /// What relaxed arrivals and waits at mbarriers carry; none where there was no fence for them.
    pub(super) relaxed: Option<Box<Relaxed>>,
    /// Epochs at which groups were committed.
    pub(super) commits: [Vec<u32>; GROUPS],
    /// What was done in time when groups of `wgmma` were committed.
    pub(super) committed: Vec<Vec<u32>>,
    /// The cluster barrier's generation that it arrived at and has not waited for.
    pub(super) cluster: Option<u32>,
    pub(super) met_cluster: bool,
    pub(super) exited: u32,
}

/// What relaxed arrivals and waits of a chain carry.
#[derive(Debug, Default)]
pub(super) struct Relaxed {
    /// What a relaxed arrival releases: the clock and the one beside it at the last fence.
    pub(super) released: (Vec<u32>, Vec<u32>),
    /// What relaxed waits have seen and no fence has acquired.
    pub(super) seen: (Vec<u32>, Vec<u32>),
}
