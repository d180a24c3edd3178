//! Barriers that threads are counted at, and who has come to one.

use super::known::Known;
use super::part::Part;
use crate::program::Count;
use crate::verdict::Resource;

/// A barrier's present generation, and what is needed of the last.
#[derive(Debug)]
pub(super) struct Barrier {
    pub resource: Resource,
    /// From 1.
    pub generation: u32,
    pub(super) present: Present,
    pub(super) before: Before,
}

/// Who has come to a generation that is not complete.
#[derive(Debug, Default)]
pub(super) struct Present {
    /// What the first to come asked for, and who it was.
    pub(super) count: Option<(Count, Part)>,
    /// Threads as counted by the barrier, and as they are; the warps that have arrived, as bits.
    pub(super) weight: u32,
    pub(super) threads: u32,
    pub(super) warps: u32,
    /// A warp has arrived again: chain and command.
    pub(super) again: Option<(u32, u32)>,
    pub(super) parts: Vec<Part>,
    /// What all of them knew and did.
    pub(super) known: Known,
}

/// What is kept of the generation before.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// The participants that have to be known; of those that wait, one is enough.
    pub(super) needed: Vec<Part>,
    /// All of them, for messages.
    pub(super) all: Vec<Part>,
    /// What they knew and did, for those who ask for it later (cluster).
    pub(super) known: Known,
}

/// A chain that has come to a named barrier, and waits for the rest of its warp.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comer {
    pub barrier: u32,
    pub(super) count: Count,
    pub(super) part: Part,
}

impl Barrier {
    /// One that nobody has come to. `nothing`: what is known then.
    pub(super) fn new(resource: Resource, nothing: Known) -> Barrier {
        let present = Present { known: nothing, ..Present::default() };
        Barrier { resource, generation: 1, present, before: Before::default() }
    }

    /// What stands in the list while the barrier is out of it, to be worked on beside the others.
    pub(super) fn taken_out(resource: Resource) -> Barrier {
        Barrier { generation: 0, ..Barrier::new(resource, Known::default()) }
    }

    /// Who takes part waits for all threads.
    pub(super) fn is_for_all(&self) -> bool {
        matches!(self.present.count, Some((Count::All, _)))
    }

    /// The present generation is over, and the next one begins.
    pub(super) fn end_generation(&mut self) {
        self.generation += 1;
        let (present, before) = (&mut self.present, &mut self.before);
        before.needed.clear();
        match present.parts.iter().find(|p| p.waits) {
            // Who knows of one that waited knows of all.
            Some(part) => before.needed.push(*part),
            None => before.needed.extend_from_slice(&present.parts),
        }
        std::mem::swap(&mut before.all, &mut present.parts);
        if self.resource == Resource::Cluster {
            before.known.set(&present.known);
        }
        let mut parts = std::mem::take(&mut present.parts);
        parts.clear();
        present.known.forget();
        let known = std::mem::take(&mut present.known);
        *present = Present { parts, known, ..Present::default() };
    }
}
