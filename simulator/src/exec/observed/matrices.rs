//! What is told of matrices that a warp reads and writes together.
//!
//! They are accesses of lanes like any others, weak ones: the ISA has the warp come together for them, and says nothing of memory. Of `ldmatrix`
//! and `stmatrix` a row belongs to the lane that gives its address. Of `wmma` an element belongs to the lane that holds it
//! in our layout, which is opaque to programs; of several lanes that hold it, to the first.

use bugaroo_ptx::types::Semantics;
use bugaroo_semantics::event::{AccessKind, Values};

use super::sourced::Marks;
use super::{Doing, Going, Machine};
use crate::exec::spot::Spot;

/// The elements of the same number of all lanes.
pub(in crate::exec) struct Elements {
    /// Bytes of each.
    pub size: u32,
    /// How many lie behind each other at each lane's place.
    pub count: u32,
    pub at: [Option<(Spot, u64)>; 32],
    /// What is read or written, by lane.
    pub values: [u128; 32],
}

impl Elements {
    /// Nobody's yet.
    pub fn new(size: u32, count: u32) -> Elements {
        Elements { size, count, at: [None; 32], values: [0; 32] }
    }
}

impl Values for Elements {
    fn value(&self, lane: u32, element: u32) -> u128 {
        let bits = self.size * 8;
        self.values[lane as usize] >> (element * bits) & (u128::MAX >> (128 - bits))
    }
}

impl Machine<'_> {
    /// Lanes have read or written elements of a matrix: each so many bytes behind its spot.
    pub(in crate::exec) fn observed_elements(
        &mut self,
        w: usize,
        pc: u32,
        writes: bool,
        elements: &Elements,
    ) {
        if self.hooks.watch.is_none() {
            return;
        }
        let mut mask = 0;
        for (lane, place) in elements.at.iter().enumerate() {
            let Some((spot, behind)) = place else { continue };
            let range = self.observed_spot(*spot, 0);
            let Some(watch) = &mut self.hooks.watch else { return };
            mask |= 1 << lane;
            watch.at.memories[lane] = Some(range.memory);
            watch.at.addresses[lane] = range.address + behind;
        }
        if mask == 0 {
            return;
        }
        let by = self.observed_lanes(w, mask);
        let Some(watch) = &mut self.hooks.watch else { return };
        watch.at.going = Going::Several;
        let kind = if writes { AccessKind::Store } else { AccessKind::Load };
        let Elements { size, count, .. } = *elements;
        let doing = Doing { pc, kind, semantics: Semantics::Weak, size, elements: count };
        watch.access(by, &doing, if writes { u32::MAX } else { 0 }, elements, &Marks::NONE);
    }
}
