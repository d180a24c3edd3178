//! Which ranges of the arena are allocated, in order of offset.

use super::AllocationKind;
use crate::fault::Near;

/// Bytes between two allocations that belong to nobody.
const GAP: u64 = 512;
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

/// The table: live allocations and the latest freed ranges.
#[derive(Debug)]
pub(super) struct Table {
    /// By ascending offset.
    live: Vec<Allocation>,
    /// Ranges freed and not handed out since.
    freed: Vec<(u64, u64)>,
    /// Everything from here on has never been allocated.
    fresh: u64,
    len: u64,
}

impl Table {
    pub fn new(len: u64) -> Table {
        Table { live: Vec::new(), freed: Vec::new(), fresh: GAP, len }
    }

    pub fn live(&self) -> &[Allocation] {
        &self.live
    }

    /// Finds room and records the allocation: behind all others while the arena lasts, else in the first
    /// hole that is large enough.
    pub fn insert(&mut self, bytes: u64, align: u64, kind: AllocationKind) -> Option<u64> {
        let fits = |from: u64, limit: u64| {
            let offset = from.checked_next_multiple_of(align)?;
            (offset.checked_add(bytes)?.checked_add(GAP)? <= limit).then_some(offset)
        };
        if let Some(offset) = fits(self.fresh, self.len) {
            self.fresh = offset + bytes + GAP;
            self.live.push(Allocation { offset, bytes, kind });
            return Some(offset);
        }
        let mut from = GAP;
        for i in 0..=self.live.len() {
            let limit = self.live.get(i).map_or(self.len, |a| a.offset);
            if let Some(offset) = fits(from, limit) {
                self.live.insert(i, Allocation { offset, bytes, kind });
                self.freed.retain(|&(start, len)| start + len <= offset || start >= offset + bytes);
                return Some(offset);
            }
            from = self.live.get(i).map_or(self.len, |a| a.end() + GAP);
        }
        None
    }

    /// Forgets the allocation that starts at `offset` and answers its size.
    pub fn remove(&mut self, offset: u64) -> Option<u64> {
        let at = self.live.binary_search_by_key(&offset, |a| a.offset).ok()?;
        let gone = self.live.remove(at);
        self.freed.push((gone.offset, gone.bytes));
        Some(gone.bytes)
    }

    pub fn find(&self, offset: u64) -> Option<&Allocation> {
        let after = self.live.partition_point(|a| a.offset <= offset);
        let found = &self.live[after.checked_sub(1)?];
        (offset < found.end()).then_some(found)
    }

    pub fn was_freed(&self, offset: u64) -> bool {
        self.freed.iter().any(|&(start, len)| offset >= start && offset - start < len)
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
