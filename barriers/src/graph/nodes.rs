//! What a graph is made of.

use std::collections::BTreeSet;

use crate::findings::barrier_name;
use crate::verdict::Resource;

/// A warp's part in a dynamic barrier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Visit {
    /// The warp, over all CTAs.
    pub warp: u32,
    /// Whether it waits for the others, or arrives and goes on.
    pub waits: bool,
    /// The PTX instruction's number.
    pub origin: u32,
}

/// A dynamic barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicBarrier {
    /// Of what.
    pub resource: Resource,
    /// Its use, from 1.
    pub generation: u32,
    /// Who takes part, in order of the warps.
    pub visits: Vec<Visit>,
}

impl DynamicBarrier {
    pub(super) fn name(&self) -> String {
        format!("{} · {}", barrier_name(&self.resource), self.generation)
    }
}

/// The graph of what completes in one execution; of a well-synchronised program, in all.
#[derive(Clone, Debug, Default)]
pub struct BarrierGraph {
    /// In the order of completion, which agrees with the edges.
    pub nodes: Vec<DynamicBarrier>,
    /// From the earlier to the later.
    pub edges: BTreeSet<(usize, usize)>,
    /// Warps.
    pub warps: u32,
}
