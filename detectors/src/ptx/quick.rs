//! The atomics that are most frequent, at little cost: relaxed ones of a CTA that has done the last one there, too.
//!
//! What [`super::strong`] would make of such a lane is known beforehand. The last atomic is what memory holds, and all that it carries
//! is itself. The new one has read it, is morally strong with it (same CTA, same size), and reaches no farther: so it dominates the
//! old one, whose number and place it takes. Plain writes that stand beside are compared as ever.

use bugaroo_semantics::event::{Access, AccessKind, each};

use super::check::Check;
use super::detector::ExactDetector;
use super::record::{Record, WRITES};
use super::rows::granule;
use super::state::LaneSync;
use crate::shadow::{Bytes, ROW_SHIFT, bytes};

impl LaneSync {
    /// Whether strong writes of the lane carry nothing.
    fn carries_nothing(&self) -> bool {
        self.fence.is_none() && self.fences.is_none() && self.released_at.is_empty()
    }
}

impl ExactDetector {
    /// Does those lanes of an access that are as above. Gives the others: from the first one on that is not.
    pub(super) fn quick(&mut self, access: &Access<'_>, record: &Record) -> u32 {
        let mask = access.by.mask;
        let told_later = access.numbers.is_some() || access.sourced | access.held | access.own != 0;
        if !matches!(access.kind, AccessKind::Atomic(_))
            || access.acquire
            || access.release
            || access.size > 4
            || told_later
            || self.links.is_frozen()
            || self.devices.several
        {
            return mask;
        }
        let Some(grid) = self.grids.get(&access.by.grid) else { return mask };
        if grid.keeps() {
            return mask;
        }
        let warp = &grid.warps[access.by.warp as usize];
        for lane in each(mask) {
            let rest = mask >> lane << lane;
            let carries = !warp.sync.of(lane).carries_nothing();
            let address = access.address(lane);
            let from = (address & 127) as u32;
            if carries || access.wrote >> lane & 1 == 0 || from % 4 + access.size > 4 {
                return rest;
            }
            let at: Bytes = bytes(from, from + access.size);
            let log = &self.host;
            let row = self.shadow.row(access.by.grid, access.memory, address >> ROW_SHIFT, |first, rows| {
                log.fill(first, rows);
            });
            let Some(cells) = &mut row.cells else { return rest };
            let cell = &mut cells[from as usize / 4];
            debug_assert!(at & !granule(from / 4) == 0, "it lies within its granule");
            let new = Record {
                mask: at,
                base: (access.by.first + lane) as i16,
                flags: record.flags | WRITES,
                ..*record
            };
            let Some(before) = cell.repeats(&new, &mut self.links) else { return rest };
            if before.is_empty() {
                continue;
            }
            self.report.here = (access.memory, address >> ROW_SHIFT << ROW_SHIFT);
            let mut check =
                Check::of_lanes((&self.works, &mut self.links, &mut self.report), grid, &access.by);
            for old in before.iter().rev().filter(|old| old.mask & at != 0) {
                let excused = check.excused(old, &new);
                check.compare(old, &new, old.mask & at, excused);
            }
        }
        0
    }
}
