//! Barriers that threads are counted at, and who has come to one.

use super::part::Part;
use crate::program::Count;
use crate::verdict::Resource;

/// A barrier's present generation, and what is needed of the last.
#[derive(Debug)]
pub(crate) struct Barrier {
    pub resource: Resource,
    /// From 1.
    pub generation: u32,
    /// What the first to come asked for, and who it was.
    pub(super) count: Option<(Count, Part)>,
    /// Threads as counted by the barrier, and as they are; the warps that have arrived, as bits.
    pub(super) weight: u32,
    pub(super) threads: u32,
    pub(super) warps: u32,
    /// A warp has arrived again: chain and command.
    pub(super) again: Option<(u32, u32)>,
    pub parts: Vec<Part>,
    pub(super) clock: Vec<u32>,
    pub(super) fenced: Vec<u32>,
    /// Participants of the generation before; of those that wait, one is enough.
    pub(super) last: Vec<Part>,
    /// All of them, for messages; and the clock, for those who ask for it later (cluster).
    pub(super) last_all: Vec<Part>,
    pub(super) last_clock: Vec<u32>,
    pub(super) last_fenced: Vec<u32>,
}

/// A chain that has come to a named barrier, and waits for the rest of its warp.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comer {
    pub barrier: u32,
    pub(super) count: Count,
    pub(super) part: Part,
}

impl Barrier {
    /// Who takes part waits for all threads.
    pub(super) fn is_for_all(&self) -> bool {
        matches!(self.count, Some((Count::All, _)))
    }

    /// Participants of the generation before; of those that waited, one.
    pub(super) fn last(&self) -> &[Part] {
        &self.last
    }

    /// What stands in the list while the barrier is out of it, to be worked on beside the others.
    pub(super) fn taken_out(resource: Resource) -> Barrier {
        Barrier {
            resource,
            generation: 0,
            count: None,
            weight: 0,
            threads: 0,
            warps: 0,
            again: None,
            parts: Vec::new(),
            clock: Vec::new(),
            fenced: Vec::new(),
            last: Vec::new(),
            last_all: Vec::new(),
            last_clock: Vec::new(),
            last_fenced: Vec::new(),
        }
    }
}
