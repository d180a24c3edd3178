//! Accesses that are not strong: as few records as they come down to.

use bugaroo_semantics::event::{Access, AccessKind, Addresses, each};
use bugaroo_semantics::scope::Strength;

use super::check::Check;
use super::detector::ExactDetector;
use super::record::{Kind, ONE, Record, WRITES};
use crate::shadow::{Bytes, ROW_SHIFT, bytes};

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

/// By a power of two: the bits that are multiples of it.
const STARTS: [Bytes; 8] = {
    let mut all = [0; 8];
    let mut shift = 0;
    while shift < 8 {
        let mut at = 0;
        while at < 128 {
            all[shift] |= 1 << at;
            at += 1 << shift;
        }
        shift += 1;
    }
    all
};

/// The first lanes of a mask whose addresses are alike: all the same (None), or each by the same power of two behind the one before it.
/// Lanes in their order: what comes after one that is not alike may meet its bytes.
#[inline]
fn alike(all: &[u64; 32], mask: u32, bytes: u32) -> (u32, Option<u32>) {
    let lane = mask.trailing_zeros();
    let (first, rest) = (all[lane as usize], mask & (mask - 1));
    let natural = bytes.next_power_of_two().trailing_zeros();
    if rest == 0 {
        return (mask, Some(natural));
    }
    let second = rest.trailing_zeros();
    let apart = all[second as usize].wrapping_sub(first);
    let lanes_apart = u64::from(second - lane);
    let step = apart / lanes_apart;
    if apart != 0
        && !(step.is_power_of_two() && step.wrapping_mul(lanes_apart) == apart && step >= u64::from(bytes))
    {
        return (1 << lane, Some(natural));
    }
    let mut lanes = 1 << lane;
    for next in each(rest) {
        if all[next as usize] != first.wrapping_add(step.wrapping_mul(u64::from(next - lane))) {
            break;
        }
        lanes |= 1 << next;
    }
    (lanes, (apart != 0).then_some(step.trailing_zeros()))
}

impl ExactDetector {
    /// Lanes access memory, not strongly.
    pub(super) fn plain(&mut self, access: &Access<'_>) {
        let kind = Kind {
            site: access.site,
            kind: access.kind,
            strength: Strength::Weak,
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
            Addresses::Consecutive(first) if access.bytes().is_power_of_two() => {
                self.in_a_row(access, record, mask, first, access.bytes().trailing_zeros());
            }
            Addresses::Consecutive(_) => {
                each(mask).for_each(|lane| self.alone(access, record, lane, access.address(lane)));
            }
            Addresses::Same(at) => self.at_one(access, record, mask, at),
            Addresses::Each(all) => {
                let mut left = mask;
                while left != 0 {
                    let (lanes, shift) = alike(all, left, access.bytes());
                    let lane = left.trailing_zeros();
                    let first = all[lane as usize];
                    match shift {
                        Some(shift) => {
                            let origin = first.wrapping_sub(u64::from(lane) << shift);
                            self.in_a_row(access, record, lanes, origin, shift);
                        }
                        None => self.at_one(access, record, lanes, first),
                    }
                    left &= !lanes;
                }
            }
        }
    }

    /// Lane `i` of the mask at `origin` and `i` times this power of two, which is no less than the bytes of a lane.
    fn in_a_row(&mut self, access: &Access<'_>, record: Record, mask: u32, origin: u64, shift: u32) {
        let wide = access.bytes();
        // Where a lane's bytes begin within what is between it and the next one.
        let inner = (origin & ((1 << shift) - 1)) as u32;
        if shift >= u32::from(ONE) || inner + wide > 1 << shift {
            for lane in each(mask) {
                self.alone(access, record, lane, origin.wrapping_add(u64::from(lane) << shift));
            }
            return;
        }
        let origin = origin.wrapping_sub(u64::from(inner));
        let part = bytes(inner, inner + wide);
        let sparse = wide < 1 << shift;
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros();
            let at = origin.wrapping_add(u64::from(lane) << shift);
            let unit = (at & 127) >> shift;
            // Lanes of this row: from `lane` on as many as there is room for.
            let room = (128 >> shift) - unit as u32;
            let window = if room >= 32 { u32::MAX } else { (1 << room) - 1 };
            let here = left >> lane & window;
            left &= !(here << lane);
            let of = |lanes: u32| {
                let all = spread(lanes, shift) << (unit << shift);
                if sparse { all & STARTS[shift as usize].wrapping_mul(part) } else { all }
            };
            let mask = of(here);
            let held = here & access.held >> lane;
            let visible = if held == 0 { mask } else { mask & !of(held) };
            let base = (access.by.first + lane) as i32 - unit as i32;
            let shape = record.shape & !7 | shift as u8;
            let record = Record { mask, base: base as i16, shape, ..record };
            self.put(access, at >> ROW_SHIFT, &record, visible);
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
        self.put(access, at >> ROW_SHIFT, &record, mask);
    }

    /// One lane.
    fn alone(&mut self, access: &Access<'_>, record: Record, lane: u32, at: u64) {
        let mut at = at;
        let mut left = u64::from(access.bytes());
        while left > 0 {
            let here = left.min(128 - (at & 127));
            let mask = bytes((at & 127) as u32, ((at & 127) + here) as u32);
            let record = Record { mask, base: (access.by.first + lane) as i16, ..record };
            let visible = if access.held >> lane & 1 == 0 { mask } else { 0 };
            self.put(access, at >> ROW_SHIFT, &record, visible);
            at = at.wrapping_add(here);
            left -= here;
        }
    }

    #[inline]
    fn put(&mut self, access: &Access<'_>, row: u64, record: &Record, visible: Bytes) {
        let Some(grid) = self.grids.get(&access.by.grid) else { return };
        let warp = &grid.warps[access.by.warp as usize];
        self.report.here = (access.memory, row << ROW_SHIFT);
        let log = &self.host;
        let there = self.shadow.row(access.by.grid, access.memory, row, |first, rows| log.fill(first, rows));
        let mut check = Check::of_lanes((&self.works, &mut self.links, &mut self.report), grid, &access.by);
        check.settled = grid.settled(access.memory, warp);
        there.plain(record, &mut check, visible, &mut self.spare);
    }
}
