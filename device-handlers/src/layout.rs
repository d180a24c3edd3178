//! Where the arrays of one launch lie in one block of device memory.
//!
//! Arrays with a row per thread are interleaved, `[row][thread]`, so that the lanes of a warp touch
//! neighbouring words. What has to be zero when a launch starts comes first and is contiguous.
//!
//! The entries themselves are not laid out per thread: threads take chunks of [`CHUNK`] entries from one
//! pool, up to their capacity. The paper gives every thread all of its entries in advance, nearly 1 GB for
//! 65,535 threads (IV.E); most of it is never touched (IV.C.2). Here a launch of that size takes less
//! than 256 MB, see [`POOL_BYTES_PER_THREAD`]. A thread that finds the pool dry drains its buffer and goes
//! on with what it has: stores come early then, but none is lost.

use crate::constants::pending::COUNT_MASK;
use crate::constants::{CHUNK, ENTRY_BYTES, cta};

/// Bytes of the pool per thread, where threads are too many for all their entries: 13 chunks, 208 entries for
/// both spaces together, however unevenly the threads use them.
pub const POOL_BYTES_PER_THREAD: u64 = 13 * CHUNK_BYTES;

/// A pool of so many bytes is not worth making smaller: 8,192 threads with all of 256 entries in both
/// buffers have room.
pub const AMPLE_POOL_BYTES: u64 = 64 << 20;

/// Bytes of a chunk.
pub const CHUNK_BYTES: u64 = CHUNK as u64 * ENTRY_BYTES;

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
    /// Most chunks of one buffer.
    pub chunk_rows: u32,
    /// Chunks of the pool.
    pub pool_chunks: u32,
    /// One `u64`: stores that were delayed in this launch.
    pub delayed: u64,
    /// One `u32`: chunks that were taken.
    pub next_chunk: u64,
    /// `u64` per space (global, shared) and number of entries from 0 to the capacity: drains of a buffer that
    /// held so many.
    pub flushes: u64,
    /// `u64` per thread: counts of its buffers.
    pub pending: u64,
    /// [`cta::BYTES`] per CTA: what it holds back.
    pub ctas: u64,
    /// `u32` per thread: chunks taken, a half per space.
    pub taken: u64,
    /// `u32` per slot and thread: executions of the store.
    pub coins: u64,
    /// The host zeroes this many bytes from the start before every launch.
    pub zeroed_bytes: u64,
    /// `u32` per space, chunk of a buffer and thread: number of the chunk taken.
    pub chunks: u64,
    /// The chunks.
    pub pool: u64,
    /// Size of the allocation.
    pub total_bytes: u64,
}

impl Layout {
    /// Alignment of the allocation, and of every array in it.
    pub const ALIGN: u64 = 256;

    /// Lays the arrays of a launch of `ctas` CTAs of `cta_threads` threads out, for a module with
    /// `store_sites` store sites.
    ///
    /// `capacity` is cut to what a count can hold (65,535), and raised to 1. When the whole does not
    /// fit `budget_bytes`, first the pool shrinks, down to a chunk, then the capacity, down to 1, then the
    /// rows of coin counters, down to 1. What is then still too large exceeds the budget: `total_bytes`
    /// says so, and the caller's allocation is the judge. The same arguments always give the same layout.
    pub fn new(
        (ctas, cta_threads): (u64, u64),
        store_sites: u32,
        capacity: u32,
        budget_bytes: u64,
    ) -> Layout {
        let threads = ctas.saturating_mul(cta_threads);
        let wanted = capacity.clamp(1, COUNT_MASK);
        let slots = store_sites.max(1);
        let place = |capacity, slots, chunks| Self::place((ctas, threads), slots, capacity, chunks);
        let fits = |layout: Layout| layout.total_bytes <= budget_bytes;
        let capacity = largest(wanted, |capacity| fits(place(capacity, slots, 1)));
        let slots = largest(slots, |slots| fits(place(capacity, slots, 1)));
        let chunks = largest(Self::ample(threads, capacity), |chunks| fits(place(capacity, slots, chunks)));
        place(capacity, slots, chunks)
    }

    /// Chunks of the pool of a launch when memory is not short.
    pub fn ample(threads: u64, capacity: u32) -> u32 {
        let all = threads.saturating_mul(2 * u64::from(capacity.div_ceil(CHUNK)));
        let shared = threads.saturating_mul(POOL_BYTES_PER_THREAD).max(AMPLE_POOL_BYTES) / CHUNK_BYTES;
        u32::try_from(all.min(shared)).unwrap_or(u32::MAX).max(1)
    }

    /// Bytes of the buffers: of what is there for delayed stores, less the coin counters.
    pub fn buffer_bytes(&self) -> u64 {
        self.total_bytes - (self.chunks - self.coins)
    }

    fn place((ctas, threads): (u64, u64), coin_slots: u32, capacity: u32, pool_chunks: u32) -> Layout {
        // The two counters have the first line to themselves.
        let (delayed, next_chunk) = (0, 8);
        let mut end = Self::ALIGN;
        let mut array = |rows: u64, columns: u64, item: u64| {
            let start = end;
            let bytes = rows.saturating_mul(columns).saturating_mul(item);
            end = start.saturating_add(bytes).checked_next_multiple_of(Self::ALIGN).unwrap_or(u64::MAX);
            start
        };
        let chunk_rows = capacity.div_ceil(CHUNK);
        let flushes = array(2, u64::from(capacity) + 1, 8);
        let pending = array(1, threads, 8);
        let ctas = array(1, ctas, cta::BYTES);
        let taken = array(1, threads, 4);
        let coins = array(u64::from(coin_slots), threads, 4);
        let chunks = array(2 * u64::from(chunk_rows), threads, 4);
        let pool = array(1, u64::from(pool_chunks), CHUNK_BYTES);
        let total_bytes = end;
        Layout {
            threads,
            capacity,
            coin_slots,
            chunk_rows,
            pool_chunks,
            delayed,
            next_chunk,
            flushes,
            pending,
            ctas,
            taken,
            coins,
            zeroed_bytes: chunks,
            chunks,
            pool,
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
