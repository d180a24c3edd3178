// Model bugaroo: Algorithms 1 and 2 of the paper (Islam and Muzahid), quirks included.

#pragma once

#include "buffers.cuh"

// Algorithm 1, lines 25 to 35.
extern "C" __device__ __noinline__ ulonglong2 __bugaroo_paper_store(
    u32 thread, u64 address, u32 space, u32 width, u32 coin) {
    const Launch &launch = __bugaroo_launch;
    u64 pending = launch.pending[thread];
    u32 count = entries_of(pending, space);
#pragma unroll 1
    for (u32 entry = 0; entry < count; entry++) {
        Entry found = *entry_at(thread, space, entry);
        if (address_of(found.tagged) != address) continue;
        __bugaroo_write(found.tagged, found.value);
        thread_fence();
#pragma unroll 1
        for (entry++; entry < count; entry++) {
            *entry_at(thread, space, entry - 1) = *entry_at(thread, space, entry);
        }
        launch.pending[thread] = pending - (1ull << (space * BUGAROO_COUNT_BITS));
    }
    if (!coin) return make_ulonglong2(0, BUGAROO_RUN);
    return make_ulonglong2(read_in(address, width), BUGAROO_RUN_AND_RESTORE);
}

// Algorithm 1, lines 19 to 24. Widths are not in the paper: a wider load takes the bytes that the
// entry lacks from memory.
extern "C" __device__ __noinline__ ulonglong2 __bugaroo_paper_load(u32 thread, u64 address, u32 space, u32 width) {
    const Launch &launch = __bugaroo_launch;
    u32 count = entries_of(launch.pending[thread], space);
#pragma unroll 1
    for (u32 entry = 0; entry < count; entry++) {
        Entry found = *entry_at(thread, space, entry);
        if (address_of(found.tagged) != address) continue;
        u64 value = found.value;
        u32 held = 8u << width_of(found.tagged);
        if (width_of(found.tagged) < width) value |= read_in(address, width) >> held << held;
        return make_ulonglong2(value, 1);
    }
    return make_ulonglong2(0, 0);
}
