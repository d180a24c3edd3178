//! What a command does. The meanings stand in [`super`].

use serde::Serialize;

use super::access::{Completion, GroupKind, SharedAccess};

/// What a fence makes visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Fenced {
    /// `fence.proxy.async`: everything that happens before it, to asynchronous copies.
    Proxy,
    /// `fence.mbarrier_init`: the thread's own `mbarrier.init`s. Who learns of it by a relaxed arrival knows of them, too.
    Inits,
    /// `fence.acq_rel`, `fence.sc`: everything that happens before it, to those who wait for a relaxed arrival at an mbarrier behind it; and what relaxed
    /// waits before it have seen, to what comes behind it.
    Memory,
}

/// How many threads a named barrier waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Count {
    /// All threads of the CTA that have not exited (the count is left out).
    All,
    /// So many.
    Threads(u32),
}

/// One command of a warp, without its lanes and its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of the module's words")]
pub enum CommandAction<'a> {
    Access(SharedAccess<'a>),
    Sync {
        id: u32,
        count: Count,
    },
    Arrive {
        id: u32,
        count: Count,
    },
    WarpSync {
        members: u32,
    },
    /// A vote, a shuffle or the like: its members wait for each other, and no memory is ordered.
    WarpMeet {
        members: u32,
    },
    Exit,
    /// `relaxed`: those who wait for it learn nothing of what its thread did, but for `mbarrier.init`s with a fence of their own.
    ClusterArrive {
        relaxed: bool,
    },
    ClusterWait,
    MbarrierInit {
        address: u32,
        count: u32,
    },
    /// `last`: by whoever is the last to come of several, each of which has this command; known to come behind all uses.
    MbarrierInval {
        address: u32,
        last: bool,
    },
    /// `drop`: `arrive_drop`, which lowers the count of the phases to come, too. `relaxed`: who waits for it learns of nothing but what came before
    /// a fence of its thread ([`Fenced::Memory`]).
    MbarrierArrive {
        address: u32,
        count: u32,
        expect_tx: u32,
        drop: bool,
        relaxed: bool,
    },
    /// `mbarrier.complete_tx` by hand.
    MbarrierCompleteTx {
        address: u32,
        bytes: u32,
    },
    /// `relaxed`: what it learns of counts from the next fence of its thread on ([`Fenced::Memory`]).
    MbarrierWait {
        address: u32,
        parity: u32,
        relaxed: bool,
    },
    CommitGroup(GroupKind),
    WaitGroup(GroupKind, u32),
    /// `noinc`: the arrival was counted in the mbarrier's count; otherwise it raises the pending count first.
    CpAsyncArrive {
        address: u32,
        noinc: bool,
    },
    Fence(Fenced),
}

impl CommandAction<'_> {
    /// Whether it begins something, or ends it, that may be under way across a barrier of the CTA.
    pub(crate) fn outlasts_barriers(&self) -> bool {
        match self {
            CommandAction::Access(access) => access.completion != Completion::Now,
            CommandAction::Sync { .. } | CommandAction::Arrive { .. } => false,
            CommandAction::WarpSync { .. } | CommandAction::WarpMeet { .. } => false,
            CommandAction::Exit | CommandAction::Fence(_) => false,
            _ => true,
        }
    }
}

/// A command: who does what, and which PTX instruction it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command<'a> {
    /// The lanes.
    pub lanes: u32,
    /// The emulator's number of the PTX instruction.
    pub origin: u32,
    /// What they do.
    pub action: CommandAction<'a>,
}
