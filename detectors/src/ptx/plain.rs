//! Accesses that are not strong: as few records as they come down to.

use bugaroo_semantics::event::{Access, AccessKind, Addresses, each};
use bugaroo_semantics::scope::Strength;

use super::Ptx;
use super::check::{Actor, Check};
use super::record::{Kind, ONE, Record, WRITES};
use super::report::NO_SCOPE;
use crate::shadow::{ROW_SHIFT, bytes};

/// The bits of a mask, each as often as a power of two says: bit `i` becomes the `1 << shift` bits from `i << shift`.
#[inline]
fn spread(mask: u32, shift: u32) -> u128 {
    if mask == 0 {
        return 0;
    }
    let (low, high) = (mask.trailing_zeros(), 32 - mask.leading_zeros());
    if mask.count_ones() == high - low {
        return bytes(low << shift, high << shift);
    }
    let unit = (1u128 << (1 << shift)) - 1;
    each(mask).fold(0, |all, bit| all | unit << (bit << shift))
}

impl Ptx {
    /// Lanes access memory, not strongly.
    pub(super) fn plain(&mut self, access: &Access<'_>) {
        let kind = Kind {
            site: access.site,
            kind: access.kind,
            strength: Strength::Weak,
            scope: NO_SCOPE,
            size: access.size,
            asynchronous: false,
        };
        let kind = self.report.kinds.number(kind);
        let Some(grid) = self.grids.get(&access.by.grid) else { return };
        let writes = access.kind.writes();
        let record = Record {
            mask: 0,
            lanes: 0,
            warps: 0,
            grid: access.by.grid,
            cta: access.by.block as u32,
            time: grid.ctas[access.by.cta as usize].clock,
            kind,
            link: 0,
            base: 0,
            shape: (access.size.trailing_zeros() as u8) << 3 | ONE,
            flags: if writes { WRITES } else { 0 },
        };
        let mask = access.by.mask;
        match access.at {
            Addresses::Consecutive(first) => self.in_a_row(access, record, mask, first),
            Addresses::Same(at) => self.at_one(access, record, mask, at),
            Addresses::Each(all) => {
                let bytes = u64::from(access.bytes());
                let mut left = mask;
                while left != 0 {
                    let lane = left.trailing_zeros();
                    let first = all[lane as usize];
                    let (mut row, mut same) = (1 << lane, 1 << lane);
                    // Lanes in their order: what comes after one that does neither may meet its bytes.
                    let (mut in_row, mut in_same) = (true, true);
                    for next in each(left & !(1 << lane)) {
                        let at = all[next as usize];
                        in_row &= at == first.wrapping_add(u64::from(next - lane) * bytes);
                        in_same &= at == first;
                        if !in_row && !in_same {
                            break;
                        }
                        row |= u32::from(in_row) << next;
                        same |= u32::from(in_same) << next;
                    }
                    if row.count_ones() >= same.count_ones() {
                        let origin = first.wrapping_sub(u64::from(lane) * bytes);
                        self.in_a_row(access, record, row, origin);
                        left &= !row;
                    } else {
                        self.at_one(access, record, same, first);
                        left &= !same;
                    }
                }
            }
        }
    }

    /// Lane `i` of the mask at `origin` and `i` times the bytes of a lane.
    fn in_a_row(&mut self, access: &Access<'_>, record: Record, mask: u32, origin: u64) {
        let wide = access.bytes();
        let shift = wide.trailing_zeros();
        if !wide.is_power_of_two() || origin & u64::from(wide - 1) != 0 || wide > 64 {
            for lane in each(mask) {
                self.alone(access, record, lane, origin.wrapping_add(u64::from(lane * wide)));
            }
            return;
        }
        for (part, visible) in [(mask & !access.held, true), (mask & access.held, false)] {
            let mut left = part;
            while left != 0 {
                let lane = left.trailing_zeros();
                let at = origin.wrapping_add(u64::from(lane) << shift);
                let unit = (at & 127) >> shift;
                // Lanes of this row: from `lane` on as many as there is room for.
                let room = (128 >> shift) - unit as u32;
                let window = if room >= 32 { u32::MAX } else { (1 << room) - 1 };
                let here = left >> lane & window;
                left &= !(here << lane);
                let mask = spread(here, shift) << (unit << shift);
                let base = (access.by.first + lane) as i32 - unit as i32;
                let shape = record.shape & !7 | shift as u8;
                let record = Record { mask, base: base as i16, shape, ..record };
                self.put(access, at >> ROW_SHIFT, &record, visible);
            }
        }
    }

    /// All lanes of the mask at one address.
    fn at_one(&mut self, access: &Access<'_>, record: Record, mask: u32, at: u64) {
        let end = (at & 127) + u64::from(access.bytes());
        if access.kind != AccessKind::Load
            || mask.is_power_of_two()
            || !access.by.first.is_multiple_of(32)
            || end > 128
        {
            for lane in each(mask) {
                self.alone(access, record, lane, at);
            }
            return;
        }
        let (mask, lanes) = (bytes((at & 127) as u32, end as u32), mask);
        let record = Record { mask, lanes, warps: 1 << ((access.by.first / 32) & 31), ..record };
        self.put(access, at >> ROW_SHIFT, &record, true);
    }

    /// One lane.
    fn alone(&mut self, access: &Access<'_>, record: Record, lane: u32, at: u64) {
        let mut at = at;
        let mut left = u64::from(access.bytes());
        while left > 0 {
            let here = left.min(128 - (at & 127));
            let mask = bytes((at & 127) as u32, ((at & 127) + here) as u32);
            let record = Record { mask, base: (access.by.first + lane) as i16, ..record };
            self.put(access, at >> ROW_SHIFT, &record, access.held >> lane & 1 == 0);
            at = at.wrapping_add(here);
            left -= here;
        }
    }

    #[inline]
    fn put(&mut self, access: &Access<'_>, row: u64, record: &Record, visible: bool) {
        let Some(grid) = self.grids.get(&access.by.grid) else { return };
        let warp = &grid.warps[access.by.warp as usize];
        self.report.here = (access.memory, row << ROW_SHIFT);
        let log = &self.host;
        let there = self.shadow.row(access.by.grid, access.memory, row, |first, rows| log.fill(first, rows));
        let mut check = Check {
            works: &self.works,
            links: &mut self.links,
            grid: Some(grid),
            actor: Actor::Lanes(&warp.views, access.by.first),
            report: &mut self.report,
            candidates: None,
        };
        there.plain(record, &mut check, visible);
    }
}
