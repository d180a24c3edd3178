//! Where the arrays of one launch lie in one block of device memory.
//!
//! Arrays with a row per thread are interleaved, `[row][thread]`, so that the lanes of a warp touch
//! neighbouring words. What has to be zero when a launch starts comes first and is contiguous.

use crate::constants::pending::COUNT_MASK;

/// The arrays of one launch: byte offsets into one allocation, aligned to [`Layout::ALIGN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Threads of the launch.
    pub threads: u64,
    /// Entries of each buffer: what was asked for, or less when the budget is short.
    pub capacity: u32,
    /// Rows of coin counters: one a store site, or fewer when the budget is short (sites then share
    /// counters; their coins still differ).
    pub coin_slots: u32,
    /// One `u64`: stores that were delayed in this launch.
    pub delayed: u64,
    /// `u64` per thread: counts of its buffers.
    pub pending: u64,
    /// `u32` per slot and thread: executions of the store.
    pub coins: u64,
    /// The host zeroes this many bytes from the start before every launch.
    pub zeroed_bytes: u64,
    /// `u64` per space (global, shared), entry and thread.
    pub addresses: u64,
    /// `u64` per space, entry and thread.
    pub values: u64,
    /// Size of the allocation.
    pub total_bytes: u64,
}

impl Layout {
    /// Alignment of the allocation, and of every array in it.
    pub const ALIGN: u64 = 256;

    /// Lays the arrays of a launch of `threads` threads out, for a module with `store_sites` store
    /// sites.
    ///
    /// `capacity` is cut to what a count can hold (65,535), and raised to 1. When the whole does not
    /// fit `budget_bytes`, first the capacity shrinks, down to 1, then the rows of coin counters,
    /// down to 1. What is then still too large exceeds the budget: `total_bytes` says so, and the
    /// caller's allocation is the judge. The same arguments always give the same layout.
    pub fn new(threads: u64, store_sites: u32, capacity: u32, budget_bytes: u64) -> Layout {
        let wanted = capacity.clamp(1, COUNT_MASK);
        let slots = store_sites.max(1);
        let fits = |capacity, slots| Self::place(threads, slots, capacity).total_bytes <= budget_bytes;
        let capacity = largest(wanted, |capacity| fits(capacity, slots));
        let slots = largest(slots, |slots| fits(capacity, slots));
        Self::place(threads, slots, capacity)
    }

    fn place(threads: u64, coin_slots: u32, capacity: u32) -> Layout {
        // The delayed-store counter has the first line to itself.
        let delayed = 0;
        let mut end = Self::ALIGN;
        let mut array = |rows: u64, item: u64| {
            let start = end;
            let bytes = rows.saturating_mul(threads).saturating_mul(item);
            end = start.saturating_add(bytes).checked_next_multiple_of(Self::ALIGN).unwrap_or(u64::MAX);
            start
        };
        let pending = array(1, 8);
        let coins = array(u64::from(coin_slots), 4);
        let addresses = array(2 * u64::from(capacity), 8);
        let values = array(2 * u64::from(capacity), 8);
        let total_bytes = end;
        Layout {
            threads,
            capacity,
            coin_slots,
            delayed,
            pending,
            coins,
            zeroed_bytes: addresses,
            addresses,
            values,
            total_bytes,
        }
    }
}

/// The largest number from 1 to `most` that is good, or 1; goodness does not come back once lost.
fn largest(most: u32, good: impl Fn(u32) -> bool) -> u32 {
    if good(most) {
        return most;
    }
    let (mut low, mut high) = (1, most);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if good(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests;
