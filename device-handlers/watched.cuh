// What of a launch is looked at: see `watched` in src/looking.rs. A kit says before it includes this: STATE, its launch's state, whose
// `watched` is 0 where everything is; AMONG_WATCHED, a name for the function that asks.

#pragma once

#include "blocks.cuh"
#include "pages.cuh"

// Whether one of `count` numbers from `first` on is in one of the ranges. They neither touch nor overlap, and are in order.
__device__ __forceinline__ bool meets(u64 ranges, u64 many, u64 first, u64 count) {
    u64 low = 0, high = many;
#pragma unroll 1
    while (low < high) {
        u64 middle = (low + high) / 2;
        if (relaxed(ranges + BUGAROO_WATCHED_RANGE_BYTES * middle + 8) <= first)
            low = middle + 1;
        else
            high = middle;
    }
    u64 end = first + count < first ? ~0ull : first + count;
    return low < many && relaxed(ranges + BUGAROO_WATCHED_RANGE_BYTES * low) < end;
}

// Whether an access of so many bytes by the calling thread is looked at, where not every one is.
extern "C" __device__ __noinline__ bool AMONG_WATCHED(u64 at, u64 bytes, u32 is_shared) {
    u64 table = STATE.watched, block = linear_block();
    u64 globals = relaxed(table + BUGAROO_WATCHED_GLOBAL), shareds = relaxed(table + BUGAROO_WATCHED_SHARED);
    u64 blocks = relaxed(table + BUGAROO_WATCHED_BLOCKS), warps = relaxed(table + BUGAROO_WATCHED_WARPS);
    u64 one_in = relaxed(table + BUGAROO_WATCHED_ONE_BLOCK_IN), seed = relaxed(table + BUGAROO_WATCHED_SEED);
    if (one_in > 1 && mixed((block + seed) * BUGAROO_GOLDEN) % one_in != 0) return false;
    u64 of_globals = table + BUGAROO_WATCHED_RANGES, of_shareds = of_globals + BUGAROO_WATCHED_RANGE_BYTES * globals;
    u64 of_blocks = of_shareds + BUGAROO_WATCHED_RANGE_BYTES * shareds;
    u64 of_warps = of_blocks + BUGAROO_WATCHED_RANGE_BYTES * blocks;
    if (!meets(of_blocks, blocks, block, 1) || !meets(of_warps, warps, linear_thread() / 32, 1)) return false;
    return is_shared ? meets(of_shareds, shareds, at, bytes) : meets(of_globals, globals, at, bytes);
}

__device__ __forceinline__ bool is_watched(u64 at, u64 bytes, u32 is_shared) {
    return !STATE.watched || AMONG_WATCHED(at, bytes, is_shared);
}
