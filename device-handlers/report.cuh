// The report of a launch: what was found, each kind once with a count. A kit says before it includes this: STATE, its launch's state.

#pragma once

#include "words.cuh"

// The entry of a key other than 0; 0 where there is no room. `is_new`: nobody has had it, and who asks writes it.
__device__ __forceinline__ u64 find_entry(u64 key, bool &is_new) {
    u32 at = (u32)(key >> 32) & STATE.race_mask;
#pragma unroll 1
    for (u32 probe = 0; probe < BUGAROO_RACE_PROBES; probe++) {
        u64 entry = STATE.races + BUGAROO_RACE_BYTES * (u64)at;
        u64 found = relaxed(entry + BUGAROO_RACE_KEY);
        if (found == 0) found = swap_if(entry + BUGAROO_RACE_KEY, 0, key);
        is_new = found == 0;
        if (found == 0 || found == key) return entry;
        at = (at + 1) & STATE.race_mask;
    }
    return 0;
}

// It is written, and has a number from here on.
__device__ __forceinline__ void finish_entry(u64 entry) {
    release(entry + BUGAROO_RACE_NUMBER, add(STATE.control + BUGAROO_CONTROL_RACES, 1) + 1);
}
