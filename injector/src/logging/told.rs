//! What records are about.

use bugaroo_semantics::effect::{Fence, Stated};

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// A load, store or atomic. The word is [`bugaroo_device_handlers::logging::word`]'s.
    Access(Stated),
    /// Behind a compare-and-swap: the word is 1 in lanes that have written.
    Outcome,
    /// A fence.
    Fence(Fence),
    /// A proxy fence.
    ProxyFence,
    /// At a CTA barrier. The word is the barrier's number.
    Arrive {
        /// Whether the lanes wait there.
        waits: bool,
        /// How many threads it waits for.
        threads: Waited,
    },
    /// Behind a CTA barrier. The word is the barrier's number.
    Leave,
    /// At `bar.warp.sync`. The word is the mask of the lanes that are to meet.
    Meet,
    /// Behind it.
    Met,
    /// At a branch. The word is 1 in lanes that take it.
    Branch {
        /// Those have the first turn in lockstep ([`bugaroo_ptx::cfg::Cfg::turns`]).
        taken_first: bool,
    },
    /// Where lanes may meet that were apart: behind labels that can be come to in several ways, behind calls, and where lanes have
    /// waited for each other.
    Join,
    /// The threads end.
    Exit,
}

/// How many threads a barrier of a block waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waited {
    /// As many as a register says.
    Unknown,
    /// So many.
    These(u32),
    /// All of the block.
    All,
}

impl Waited {
    /// Whether that may be fewer than so many.
    pub fn may_be_below(self, threads: u32) -> bool {
        match self {
            Waited::Unknown => true,
            Waited::These(count) => count < threads,
            Waited::All => false,
        }
    }
}
