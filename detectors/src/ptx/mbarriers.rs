//! Initialisation of mbarriers, and their use.
//!
//! Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". `mbarrier.init` and `mbarrier.inval` write the
//! object as plain stores do; any other operation on it is an atomic one, whatever its scope: those do not race with each other. So
//! an operation races with an initialisation before it that does not come before it in causality order.
//!
//! What orders them is what orders other accesses, and `fence.mbarrier_init` with the barrier of the cluster behind it, even if that is
//! `.relaxed`: who has left it knows the initialisation, and here all that the thread did before that. Any proxy fence is taken for one
//! `fence.mbarrier_init`. Tests that find no phase completed are not looked at: the one that does is.
//!
//! Operations that a later initialisation, or the end of the object, does not come behind are not told: libraries let the last of
//! their threads end what others have used, and count them with relaxed atomics (`cuda::pipeline`).

use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::{AccessKind, Lanes, Range, SiteNumber, each};
use bugaroo_semantics::scope::Strength;

use super::check::Check;
use super::detector::ExactDetector;
use super::places::place_of;
use super::record::{Kind, ONE, Record, STRONG, WRITES, key};
use super::state::Grid;
use crate::shadow::{ROW, ROW_SHIFT, bytes};

/// Bytes of an mbarrier.
const BYTES: u32 = 8;

impl ExactDetector {
    /// Lanes make or end an mbarrier.
    pub(super) fn mbarrier_made(&mut self, by: &Lanes, at: &Range, site: SiteNumber) {
        let kind = (AccessKind::Store, Strength::Weak);
        each(by.mask).for_each(|lane| self.on_mbarrier((by, lane), at, site, kind));
    }

    /// Lanes operate on one. `waits`: they have found a phase completed; else they arrive.
    pub(super) fn mbarrier_used(
        &mut self,
        by: &Lanes,
        at: &Range,
        site: SiteNumber,
        scope: Scope,
        waits: bool,
    ) {
        let kind = if waits { AccessKind::Load } else { AccessKind::Atomic(AtomOp::Add) };
        let kind = (kind, Strength::Strong(scope));
        each(by.mask).for_each(|lane| self.on_mbarrier((by, lane), at, site, kind));
    }

    fn on_mbarrier(
        &mut self,
        (by, lane): (&Lanes, u32),
        at: &Range,
        site: SiteNumber,
        (kind, strength): (AccessKind, Strength),
    ) {
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        let mut objects = std::mem::take(&mut grid.objects);
        let (cta, place) = (by.block as u32, by.first + lane);
        let makes = strength == Strength::Weak;
        let from = (at.address & (ROW - 1)) as u32;
        let number = Kind { site, kind, strength, size: BYTES, asynchronous: false };
        let new = Record {
            mask: bytes(from, from + BYTES),
            grid: by.grid,
            cta,
            time: grid.ctas[by.cta as usize].clock,
            kind: self.report.kinds.number(number),
            base: place as i16,
            shape: (BYTES.trailing_zeros() as u8) << 3 | ONE,
            flags: if makes { WRITES } else { STRONG } | if kind.writes() { WRITES } else { 0 },
            ..Record::default()
        };
        // Nobody but this grid has it: but for what was accessed later, nothing of the grid is needed to be changed.
        let grid: &Grid = grid;
        self.report.here = (at.memory, at.address >> ROW_SHIFT << ROW_SHIFT);
        let mut check = Check::of_lanes((&self.works, &mut self.links, &mut self.report), grid, by);
        let object = place_of(at.memory, at.address, BYTES);
        if makes {
            objects.made.insert(object, new);
            objects.unfenced.insert(key(cta, place), new.time);
        } else if let Some(made) = objects.made.get(&object) {
            check.compare(made, &new, new.mask, false);
        }
        if let Some(grid) = self.grids.get_mut(&by.grid) {
            grid.objects = objects;
        }
    }
}
