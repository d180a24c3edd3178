//! Which ranges of the arena are allocated, in order of offset.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use super::AllocationKind;
use crate::fault::Near;

/// Bytes between two allocations that belong to nobody.
const GAP: u64 = 512;
/// Allocations start at multiples of this at least.
pub(super) const ALIGNMENT: u64 = 256;
/// How far a bad address may be from an allocation that is named with it.
const NEAR: u64 = 1 << 20;

/// A live allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allocation {
    pub offset: u64,
    pub bytes: u64,
    pub kind: AllocationKind,
}

impl Allocation {
    fn end(&self) -> u64 {
        self.offset + self.bytes
    }
}

/// Ranges smaller than this are handed out again once they leave the quarantine; larger ones stay away until all of
/// the arena has been handed out once.
const SMALL: u64 = 1 << 20;
/// Bytes of small ranges, with their gaps, that are held back after they were freed.
const QUARANTINE: u64 = 64 << 20;
/// Holes that are looked at for one that fits with its alignment.
const TRIES: usize = 8;

/// The table: live allocations and the latest freed ranges.
///
/// A small range that is freed goes through a quarantine, first in first out, before it may be handed out again; so memory that is
/// allocated and freed in turn takes a bounded part of the arena, and a stale pointer still faults for a while.
#[derive(Debug)]
pub(super) struct Table {
    /// By ascending offset.
    live: Vec<Allocation>,
    /// Ranges freed and not handed out since: bytes by offset.
    freed: BTreeMap<u64, u64>,
    /// Small ranges in the order in which they were freed, each with the gap behind it.
    quarantine: VecDeque<(u64, u64)>,
    /// Bytes in there.
    held: u64,
    /// What has left it: bytes by offset, neighbours put together; and the same by size.
    holes: BTreeMap<u64, u64>,
    holes_by_size: BTreeSet<(u64, u64)>,
    /// Everything from here on has never been allocated.
    fresh: u64,
    len: u64,
}

impl Table {
    pub fn new(len: u64) -> Table {
        Table {
            live: Vec::new(),
            freed: BTreeMap::new(),
            quarantine: VecDeque::new(),
            held: 0,
            holes: BTreeMap::new(),
            holes_by_size: BTreeSet::new(),
            fresh: GAP,
            len,
        }
    }

    pub fn live(&self) -> &[Allocation] {
        &self.live
    }

    /// Finds room and records the allocation: if it is small, where something small was freed long ago; else behind all others
    /// while the arena lasts, else in the first hole that is large enough.
    pub fn insert(&mut self, bytes: u64, align: u64, kind: AllocationKind) -> Option<u64> {
        let offset = self.find_room(bytes, align)?;
        let at = self.live.partition_point(|a| a.offset < offset);
        self.live.insert(at, Allocation { offset, bytes, kind });
        self.hand_out(offset, bytes);
        Some(offset)
    }

    fn find_room(&mut self, bytes: u64, align: u64) -> Option<u64> {
        let fits = |from: u64, limit: u64| {
            let offset = from.checked_next_multiple_of(align)?;
            (offset.checked_add(bytes)?.checked_add(GAP)? <= limit).then_some(offset)
        };
        if bytes < SMALL {
            let mut large_enough = self.holes_by_size.range((bytes + GAP, 0)..).take(TRIES);
            let found = large_enough.find_map(|&(len, start)| Some((fits(start, start + len)?, start, len)));
            if let Some((offset, start, len)) = found {
                self.forget_hole(start, len);
                self.add_hole(start, offset);
                self.add_hole(offset + bytes + GAP, start + len);
                return Some(offset);
            }
        }
        if let Some(offset) = fits(self.fresh, self.len) {
            self.fresh = offset + bytes + GAP;
            return Some(offset);
        }
        // All has been handed out once: from now on what is free is what is not live.
        self.held = 0;
        self.quarantine.clear();
        self.holes.clear();
        self.holes_by_size.clear();
        let mut from = GAP;
        for i in 0..=self.live.len() {
            let limit = self.live.get(i).map_or(self.len, |a| a.offset);
            if let Some(offset) = fits(from, limit) {
                return Some(offset);
            }
            from = self.live.get(i).map_or(self.len, |a| a.end() + GAP);
        }
        None
    }

    /// What was freed in a range is not known as such any more.
    fn hand_out(&mut self, offset: u64, bytes: u64) {
        while let Some((&start, &len)) = self.freed.range(..offset + bytes).next_back()
            && start + len > offset
        {
            self.freed.remove(&start);
        }
    }

    /// Forgets the allocation that starts at `offset` and answers its size, and the range around it that nothing live
    /// lies in.
    pub fn remove(&mut self, offset: u64) -> Option<(u64, Range<u64>)> {
        let at = self.live.binary_search_by_key(&offset, |a| a.offset).ok()?;
        let gone = self.live.remove(at);
        let before = at.checked_sub(1).map_or(0, |at| self.live[at].end());
        let after = self.live.get(at).map_or(self.len, |next| next.offset);
        self.freed.insert(gone.offset, gone.bytes);
        if gone.bytes < SMALL {
            let bytes = gone.bytes + GAP;
            self.quarantine.push_back((gone.offset, bytes));
            self.held += bytes;
            while self.held > QUARANTINE
                && let Some((start, bytes)) = self.quarantine.pop_front()
            {
                self.held -= bytes;
                self.add_hole(start, start + bytes);
            }
        }
        Some((gone.bytes, before..after))
    }

    /// A range may be handed out again.
    fn add_hole(&mut self, mut start: u64, mut end: u64) {
        // All allocations begin at such places: the next one behind does, too, and neighbours touch.
        (start, end) = (start.next_multiple_of(ALIGNMENT), end.next_multiple_of(ALIGNMENT));
        if start >= end {
            return;
        }
        if let Some((&before, &len)) = self.holes.range(..start).next_back()
            && before + len >= start
        {
            self.forget_hole(before, len);
            start = before;
        }
        if let Some(&len) = self.holes.get(&end) {
            self.forget_hole(end, len);
            end += len;
        }
        self.holes.insert(start, end - start);
        self.holes_by_size.insert((end - start, start));
    }

    fn forget_hole(&mut self, start: u64, len: u64) {
        self.holes.remove(&start);
        self.holes_by_size.remove(&(len, start));
    }

    pub fn find(&self, offset: u64) -> Option<&Allocation> {
        let after = self.live.partition_point(|a| a.offset <= offset);
        let found = &self.live[after.checked_sub(1)?];
        (offset < found.end()).then_some(found)
    }

    pub fn was_freed(&self, offset: u64) -> bool {
        self.freed.range(..=offset).next_back().is_some_and(|(start, len)| offset - start < *len)
    }

    /// The closest allocation within [`NEAR`]; its base is an offset here.
    pub fn nearest(&self, offset: u64) -> Option<Near> {
        let after = self.live.partition_point(|a| a.offset <= offset);
        let before = after.checked_sub(1).map(|i| &self.live[i]);
        let over = before.map(|a| Near {
            base: a.offset,
            size: a.bytes,
            distance: offset.saturating_sub(a.end()) as i64,
        });
        let under = self.live.get(after).map(|a| Near {
            base: a.offset,
            size: a.bytes,
            distance: -((a.offset - offset) as i64),
        });
        [over, under]
            .into_iter()
            .flatten()
            .min_by_key(|near| near.distance.unsigned_abs())
            .filter(|near| near.distance.unsigned_abs() < NEAR)
    }
}
