//! Who looks on while the machine runs.

use std::ops::Range;

use super::part::Part;
use super::runner::GroupState;
use crate::chains::{Chain, GROUPS, Layout};
use crate::program::WarpPrograms;
use crate::verdict::Resource;

/// Sees the accesses in an order that agrees with happens-before.
pub(crate) trait Observer {
    /// Whether it wants them at all.
    const WANTS_ACCESSES: bool = true;
    /// The commands `range` of a chain, synchronising ones left out by the observer.
    fn accesses(&mut self, context: &mut Context<'_>, range: Range<usize>);
    /// A barrier's generation is complete.
    fn completed(&mut self, _resource: Resource, _generation: u32, _parts: &[Part]) {}
    /// Somebody who did not take part in a generation, the last of its barrier, has waited for it.
    fn passed(&mut self, _resource: Resource, _part: &Part) {}
}

/// Sees nothing.
pub(crate) struct Nobody;

impl Observer for Nobody {
    const WANTS_ACCESSES: bool = false;
    fn accesses(&mut self, _context: &mut Context<'_>, _range: Range<usize>) {}
}

/// Where a chain stands while it makes accesses.
pub(crate) struct Context<'a> {
    pub program: &'a WarpPrograms,
    pub layout: &'a Layout,
    pub chain: u32,
    /// What the layout says of it.
    pub own: &'a Chain,
    /// Registrations that the chain has made.
    pub epoch: u32,
    /// What happens before: component by component, how much of it.
    pub clock: &'a mut [u32],
    /// The same, of what a proxy fence has made visible to asynchronous copies ([`Layout::fenced_len`]).
    pub fenced: &'a [u32],
    /// By kind of group: the epoch of the copies now issued, and up to which the chain's threads have waited for their own.
    pub groups: [GroupState; GROUPS],
    /// The chain has waited at the cluster's barrier.
    pub met_cluster: bool,
    /// The phase into which copies that complete on an mbarrier are counted: component and phase.
    pub phase: Option<(u32, u32)>,
}
