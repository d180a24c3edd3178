// A thread's own buffers: one of global and one of shared stores, oldest entry first.
//
// Entries lie in chunks that threads take from one pool at need and keep until the launch ends: nearly
// all buffers hold few entries (the paper, IV.C.2), so the pool is far smaller than every thread's
// capacity together. A thread that finds the pool dry drains instead: no store is lost.

#pragma once

#include "launch.cuh"

// Where an entry is; its chunk has been taken.
static __device__ __forceinline__ Entry *entry_at(u32 thread, u32 space, u32 entry) {
    const Launch &launch = __bugaroo_launch;
    u32 row = space * launch.chunk_rows + entry / BUGAROO_CHUNK;
    u32 chunk = launch.chunks[row * launch.threads + thread];
    return launch.pool + ((u64)chunk * BUGAROO_CHUNK + entry % BUGAROO_CHUNK);
}

// Sees to it that the entry has a chunk; false when the pool is dry. A thread's word of chunks taken has a
// half per space.
static __device__ __forceinline__ bool take_room(u32 thread, u32 space, u32 entry) {
    const Launch &launch = __bugaroo_launch;
    if (entry % BUGAROO_CHUNK != 0) return true;
    u32 taken = launch.taken[thread];
    u32 row = taken >> (space * 16) & 0xffff;
    if (entry / BUGAROO_CHUNK < row) return true;
    // The look before the atomic keeps the counter from running over.
    if (*(volatile u32 *)launch.next_chunk >= launch.pool_chunks) return false;
    u32 chunk = atomicAdd(launch.next_chunk, 1u);
    if (chunk >= launch.pool_chunks) return false;
    launch.chunks[(space * launch.chunk_rows + row) * launch.threads + thread] = chunk;
    launch.taken[thread] = taken + (1u << (space * 16));
    return true;
}

// Counts a drain of a whole buffer, for the histogram of flush lengths.
static __device__ __forceinline__ void note_flush(u32 space, u32 count) {
    const Launch &launch = __bugaroo_launch;
    if (count != 0) atomicAdd(launch.flushes + (space * (launch.capacity + 1) + count), 1ull);
}

// The word of counts after `gone` entries left. Without strong entries the clock stands at zero, so that
// an empty thread's word is zero.
static __device__ __forceinline__ u64 settle(u32 thread, u64 pending, u64 gone) {
    pending -= gone;
    if (strong_of(pending) == 0) pending &= BUGAROO_COUNTS_MASK;
    __bugaroo_launch.pending[thread] = pending;
    return pending;
}

enum What { ALL, STRONG, OVERLAPPING };

// Writes the selected entries of one space out, oldest first, and closes the gaps. (The paper's flush of
// everything is this one; __bugaroo_empty is ours.) Returns the thread's new word of counts, which is
// also stored.
extern "C" __device__ __noinline__ u64 __bugaroo_flush(u32 thread, u32 space, u32 what, u64 address, u32 bytes) {
    u64 pending = __bugaroo_launch.pending[thread];
    u32 count = entries_of(pending, space);
    u32 kept = 0;
    u64 gone = 0;
    if (what == ALL) note_flush(space, count);
#pragma unroll 1
    for (u32 entry = 0; entry < count; entry++) {
        Entry found = *entry_at(thread, space, entry);
        bool out = what == ALL;
        if (what == STRONG) out = is_strong(found.tagged) != 0;
        if (what == OVERLAPPING) out = overlaps(found.tagged, address, bytes);
        if (out) {
            __bugaroo_write(found.tagged, found.value);
            gone += (1ull << (space * BUGAROO_COUNT_BITS)) + (is_strong(found.tagged) << BUGAROO_STRONG_SHIFT);
        } else {
            if (kept != entry) *entry_at(thread, space, kept) = found;
            kept++;
        }
    }
    return settle(thread, pending, gone);
}

extern "C" __device__ __noinline__ u64 __bugaroo_flush_both(u32 thread, u32 what) {
    __bugaroo_flush(thread, BUGAROO_SPACE_GLOBAL, what, 0, 0);
    return __bugaroo_flush(thread, BUGAROO_SPACE_SHARED, what, 0, 0);
}

// The bounded while of strong stores: counts this call, and drains them when it is over.
static __device__ __forceinline__ u64 tick(u32 thread) {
    const Launch &launch = __bugaroo_launch;
    u64 pending = launch.pending[thread];
    if (strong_of(pending) != 0) {
        pending += 1ull << BUGAROO_CALLS_SHIFT;
        launch.pending[thread] = pending;
        if (pending >> BUGAROO_CALLS_SHIFT >= BUGAROO_STRONG_CALLS) pending = __bugaroo_flush_both(thread, STRONG);
    }
    return pending;
}

// Puts an entry behind the others, for which there is room.
static __device__ __forceinline__ u64 append(u32 thread, u32 space, u64 tagged, u64 value, u64 pending) {
    const Launch &launch = __bugaroo_launch;
    *entry_at(thread, space, entries_of(pending, space)) = Entry{tagged, value};
    pending += (1ull << (space * BUGAROO_COUNT_BITS)) + (is_strong(tagged) << BUGAROO_STRONG_SHIFT);
    launch.pending[thread] = pending;
    atomicAdd(launch.delayed, 1ull);
    return pending;
}
