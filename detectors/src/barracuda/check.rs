//! The rules for reads, writes and atomics (figure 2, and INITATOM and ATOM of figure 3), for a warp's lanes at a time.

use bugaroo_semantics::event::{Access, AccessKind, Addresses};
use rustc_hash::FxHashMap;

use super::clock::{Group, Home};
use super::mark::{Layout, Mark, ROW};
use super::report::{Pair, Reports};
use super::shadow::{Flat, Paged, Row, span};

/// Where rows are.
pub(super) enum Place<'a> {
    Global(&'a mut Paged),
    Shared(&'a mut Flat),
}

impl Place<'_> {
    #[inline]
    fn row(&mut self, number: u64) -> Option<&mut Row> {
        match self {
            Place::Global(paged) => Some(paged.row(number)),
            Place::Shared(flat) => flat.row(number),
        }
    }
}

/// Who accesses, and what the lanes know.
pub(super) struct Check<'a> {
    pub access: &'a Access<'a>,
    pub group: &'a Group,
    pub home: Home,
    pub warps_per_cta: u32,
    /// Its first warp.
    pub first_warp: u32,
    /// Lanes and times at which this instruction is done: those of the group, and of others of the warp that do it, too.
    pub current: &'a [(u32, u32)],
    pub reports: &'a mut Reports,
    /// When warps have last released.
    pub released: &'a FxHashMap<u32, u32>,
    /// Marks that there is still room for in lists.
    pub room: &'a mut i64,
    /// Reads that were not kept.
    pub lost: &'a mut u64,
}

/// Marks of one access in one row: whom to check, and what stays.
#[derive(Clone, Copy)]
struct Marks {
    check: Mark,
    stays: Mark,
}

impl Check<'_> {
    /// Lanes of the group access memory. `what` has no bytes yet.
    pub fn run(&mut self, lanes: u32, what: Mark, place: &mut Place<'_>) {
        let bytes = self.access.bytes();
        match self.access.at {
            Addresses::Consecutive(first) => {
                debug_assert!(bytes.is_power_of_two(), "elements of two's powers, and as many");
                self.row_of_lanes(first, bytes.trailing_zeros(), lanes, what, place);
            }
            Addresses::Same(address) => self.at_once(address, lanes, what, place),
            Addresses::Each(each) => {
                let mut left = lanes;
                while left != 0 {
                    let (here, shift) = alike(each, left, bytes);
                    let lane = left.trailing_zeros();
                    let address = each[lane as usize];
                    match shift {
                        Some(shift) => {
                            let first = address.wrapping_sub(u64::from(lane) << shift);
                            self.row_of_lanes(first, shift, here, what, place);
                        }
                        None => self.at_once(address, here, what, place),
                    }
                    left &= !here;
                }
            }
        }
    }

    /// Lanes each two to `shift` bytes behind the one before; `first` is where lane 0 is, or would be. No lane's access reaches
    /// beyond what is between it and the next one.
    fn row_of_lanes(&mut self, first: u64, shift: u32, lanes: u32, what: Mark, place: &mut Place<'_>) {
        let bytes = u64::from(self.access.bytes());
        let what = what.with(Layout::Row(shift as u8));
        let (low, high) = (lanes.trailing_zeros(), 31 - lanes.leading_zeros());
        let start = first.wrapping_add(u64::from(low) << shift);
        let last = first.wrapping_add((u64::from(high) << shift) + bytes - 1);
        let dense = (u64::from(lanes) >> low) + 1 == 1 << (high - low + 1);
        // All bytes of a row that would be some lane's, where each has all of its bytes in one row.
        let all = if bytes == 1 << shift { u128::MAX } else { strided(first, shift, bytes) };
        let dense = dense && (bytes == 1 << shift || first.is_multiple_of(bytes));
        for number in start / ROW..=last / ROW {
            let at = number * ROW;
            let base = first.wrapping_sub(at) as i64;
            let (from, to) = (start.max(at), last.min(at + (ROW - 1)));
            // The first lane that has bytes from here on, and the last one.
            let l = (from.wrapping_sub(first) + ((1 << shift) - bytes)) >> shift;
            let h = to.wrapping_sub(first) >> shift;
            if l > h {
                continue;
            }
            let here = lanes & (u32::MAX >> (31 - h as u32)) & (u32::MAX << l);
            let touched = if dense {
                span((from - at) as u32, (to - from + 1) as u32) & all
            } else {
                scattered(base, (bytes as i64, shift), here)
            };
            if touched != 0 {
                let mark = what.at(base, touched, here);
                self.row(number, Marks { check: mark, stays: mark }, place);
            }
        }
    }

    /// Lanes at one place.
    fn at_once(&mut self, address: u64, lanes: u32, what: Mark, place: &mut Place<'_>) {
        let writes = self.access.kind.writes();
        let (low, high) = (lanes.trailing_zeros(), 31 - lanes.leading_zeros());
        if writes && !what.what.atomic() && low != high {
            self.same_place(address, lanes, what);
        }
        let (check, stays) = if !writes && low != high {
            (what.with(Layout::All), what.with(Layout::All))
        } else {
            (what.with(Layout::One(low as u8)), what.with(Layout::One(high as u8)))
        };
        let (end, at) = (address + u64::from(self.access.bytes()) - 1, |number: u64| number * ROW);
        for number in address / ROW..=end / ROW {
            let (from, to) = (address.max(at(number)), end.min(at(number) + (ROW - 1)));
            let touched = span((from - at(number)) as u32, (to - from + 1) as u32);
            let base = address.wrapping_sub(at(number)) as i64;
            let of = |mark: Mark, one: u32| mark.at(base, touched, if writes { 1 << one } else { lanes });
            self.row(number, Marks { check: of(check, low), stays: of(stays, high) }, place);
        }
    }

    /// Lanes write one place in one instruction: that races where the values differ.
    #[cold]
    fn same_place(&mut self, address: u64, lanes: u32, what: Mark) {
        let access = self.access;
        for byte in 0..access.bytes() {
            let value = |lane| byte_of(access, lane, byte);
            let first = lanes.trailing_zeros();
            let other = bugaroo_semantics::event::each(lanes).find(|lane| value(*lane) != value(first));
            if let Some(other) = other {
                let (number, base) = ((address + u64::from(byte)) / ROW, (address % ROW) as i64);
                let base = base - ((number - address / ROW) * ROW) as i64;
                let one = |lane: u32| what.with(Layout::One(lane as u8)).at(base, 1, 1 << lane);
                let (old, new) = (one(first), one(other));
                let at = address + u64::from(byte);
                let count = u64::from(lanes.count_ones()) - 1;
                self.report(Pair {
                    old,
                    new,
                    at,
                    old_lane: first,
                    new_lane: other,
                    same_instruction: true,
                    count,
                });
                return;
            }
        }
    }

    /// One row of an access.
    #[inline]
    fn row(&mut self, number: u64, marks: Marks, place: &mut Place<'_>) {
        let Some(row) = place.row(number) else { return };
        let bytes = marks.check.bytes();
        let atomic = marks.check.what.atomic();
        let writes = self.access.kind.writes();
        row.each_write(bytes, |old| self.against(old, &marks.check, bytes, atomic, number));
        if writes {
            row.each_read(|old| self.against(old, &marks.check, bytes, atomic, number));
        }
        if writes {
            row.put_write(marks.stays, self.room);
            return;
        }
        let before = |old: &Mark| (atomic <= old.what.atomic()) && self.knows(old);
        let mut room = *self.room;
        let kept = row.put_read(marks.stays, before, &mut room);
        *self.room = room;
        *self.lost += u64::from(!kept);
    }

    #[inline]
    fn against(&mut self, old: &Mark, new: &Mark, bytes: u128, atomic: bool, row: u64) {
        let both = old.bytes() & bytes;
        if both != 0 && !(atomic && old.what.atomic()) && !self.knows(old) {
            self.conflict(old, new, both, row);
        }
    }

    /// Whether all lanes know of what `old` tells. Sure when it says so; else lanes have to be looked at.
    #[inline]
    fn knows(&self, old: &Mark) -> bool {
        if old.warp == self.home.warp {
            let outside = old.lanes & !self.group.mask;
            return old.clock < self.group.local && (outside == 0 || old.clock <= self.group.outside())
                || outside == old.lanes && old.clock <= self.group.outside();
        }
        if old.warp.wrapping_sub(self.first_warp) < self.warps_per_cta && old.clock <= self.group.block {
            return true;
        }
        self.group.foreign.is_some() && self.late(old) == 0
    }

    /// The lanes of `old` of which the group does not know it.
    fn late(&self, old: &Mark) -> u32 {
        let lanes = bugaroo_semantics::event::each(old.lanes);
        let known = |lane: u32| {
            if old.warp == self.home.warp {
                return self.group.lane(lane);
            }
            let of = Home { warp: old.warp, block: old.warp / self.warps_per_cta };
            self.group.other(self.home, of, lane)
        };
        lanes.filter(|lane| known(*lane) < old.clock).fold(0, |late, lane| late | 1 << lane)
    }

    /// Whether it is of this very instruction.
    fn is_current(&self, old: &Mark) -> bool {
        old.warp == self.home.warp
            && old.site == self.access.site
            && self.current.iter().any(|(lanes, clock)| old.clock == *clock && old.lanes & !lanes == 0)
    }

    /// Looks for lanes that race.
    #[cold]
    fn conflict(&mut self, old: &Mark, new: &Mark, both: u128, row: u64) {
        let late = self.late(old);
        if late == 0 {
            return;
        }
        let own = old.warp == self.home.warp;
        let same_instruction = self.is_current(old);
        let (mut found, mut racing) = (None, 0u32);
        let mut left = both;
        while left != 0 {
            let byte = left.trailing_zeros();
            left &= left - 1;
            let news = new.lanes_at(byte);
            // Of its own warp only lanes outside the group are late, or lanes of this instruction, a store: each is one.
            let olds = old.lanes_at(byte) & late & if own { !news } else { u32::MAX };
            if olds == 0 {
                continue;
            }
            let (old_lane, new_lane) = (olds.trailing_zeros(), news.trailing_zeros());
            if same_instruction {
                let at =
                    |mark: &Mark, lane| byte_of(self.access, lane, (byte as i32 - mark.start(byte)) as u32);
                if at(old, old_lane) == at(new, new_lane) {
                    continue;
                }
            }
            found = found.or(Some((byte, old_lane, new_lane)));
            racing |= news;
            // The element counts once.
            left &= u128::MAX << (byte / self.access.size * self.access.size) << (self.access.size - 1) << 1;
        }
        if let Some((byte, old_lane, new_lane)) = found {
            let (at, count) = (row * ROW + u64::from(byte), u64::from(racing.count_ones()));
            self.report(Pair { old: *old, new: *new, at, old_lane, new_lane, same_instruction, count });
        }
    }

    fn report(&mut self, pair: Pair) {
        let has_released = self.released.get(&pair.old.warp).is_some_and(|at| *at >= pair.old.clock);
        self.reports.race(self.access, self.home, self.warps_per_cta, has_released, &pair);
    }
}

/// A byte that a lane has written; `byte` counts from where its access begins.
fn byte_of(access: &Access<'_>, lane: u32, byte: u32) -> u8 {
    debug_assert_eq!(access.kind, AccessKind::Store);
    (access.values.value(lane, byte / access.size) >> (byte % access.size * 8)) as u8
}

/// The farthest that lanes of one mark are from each other, as a power of two: farther ones have a row each.
const APART: u32 = 6;

/// The first lanes of a mask whose addresses are alike: all the same (None), or each the same power of two behind the one before it.
fn alike(all: &[u64; 32], mask: u32, bytes: u32) -> (u32, Option<u32>) {
    let (lane, rest) = (mask.trailing_zeros(), mask & (mask - 1));
    let first = all[lane as usize];
    if rest == 0 {
        return (mask, None);
    }
    let second = rest.trailing_zeros();
    let (apart, lanes_apart) = (all[second as usize].wrapping_sub(first), u64::from(second - lane));
    let step = apart / lanes_apart;
    let in_row = step.is_power_of_two()
        && step * lanes_apart == apart
        && step >= u64::from(bytes)
        && step <= u64::from(bytes).max(1 << APART);
    if apart != 0 && !in_row {
        return (1 << lane, None);
    }
    let mut lanes = 1 << lane;
    for next in bugaroo_semantics::event::each(rest) {
        if all[next as usize] != first.wrapping_add(step * u64::from(next - lane)) {
            break;
        }
        lanes |= 1 << next;
    }
    (lanes, (apart != 0).then_some(step.trailing_zeros()))
}

/// The bytes of a row of which so many belong to a lane in each two to `shift` of them, as they do at `first`.
fn strided(first: u64, shift: u32, bytes: u64) -> u128 {
    // The bits that are multiples of two to `shift`.
    let starts = u128::MAX / ((1 << (1u32 << shift)) - 1);
    (starts * ((1 << bytes) - 1)) << (first & ((1 << shift) - 1))
}

/// The bytes of a row that some lanes have, from `base` on: each so many, two to `shift` behind the one before.
fn scattered(base: i64, (bytes, shift): (i64, u32), lanes: u32) -> u128 {
    bugaroo_semantics::event::each(lanes).fold(0, |all, lane| {
        let start = base + (i64::from(lane) << shift);
        let (from, to) = (start.max(0), (start + bytes).min(ROW as i64));
        if from < to { all | span(from as u32, (to - from) as u32) } else { all }
    })
}
