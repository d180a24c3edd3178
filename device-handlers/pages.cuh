// Words of metadata for each element of global or shared memory that is accessed, in pages whose elements are as large as the smallest access
// of them. A kit says before it includes this: STATE, its launch's state; MAKE_PAGE, a name of its own for the function that makes a
// page; MOVED, what a word is whose element was split.

#pragma once

#include "words.cuh"

__device__ __forceinline__ void count(u32 what) {
    add(STATE.control + what, 1);
}

__device__ __forceinline__ u64 mixed(u64 value) {
    value = (value ^ (value >> 30)) * BUGAROO_MIX_1;
    value = (value ^ (value >> 27)) * BUGAROO_MIX_2;
    return value ^ (value >> 31);
}

struct Words {
    u64 first;
    u32 shift;
};

__device__ __forceinline__ u64 unit_at(u64 unit) {
    return STATE.words + unit * (BUGAROO_UNIT * 8);
}

__device__ __forceinline__ u64 unit_of(u64 page) {
    return (page >> BUGAROO_UNIT_AT) & ((1ull << BUGAROO_UNIT_BITS) - 1);
}

// Words for a page of such elements, all 0; false where there are none.
__device__ __forceinline__ bool take_units(u32 shift, u64 &unit) {
    u64 wanted = 1ull << (BUGAROO_LARGEST - shift);
    unit = add(STATE.control + BUGAROO_CONTROL_UNITS, wanted);
    return unit + wanted <= STATE.units;
}

// Makes a page, or gives its words on to smaller elements. Answers what the page is then; 0 where there is no room.
extern "C" __device__ __noinline__ u64 MAKE_PAGE(u64 page, u64 owner, u32 size) {
    bool known = page >> BUGAROO_OWNER_AT == owner;
    u32 room = (page >> BUGAROO_ROOM_AT) & 3;
    bool has_room = page != 0 && !known && room <= size;
    u64 unit = unit_of(page);
    if (!has_room && !take_units(size, unit)) return 0;
    u32 words = (u32)BUGAROO_UNIT << (BUGAROO_LARGEST - size);
    if (has_room) {
#pragma unroll 1
        for (u32 at = 0; at < words; at++) store(unit_at(unit) + 8 * at, 0);
        return owner << BUGAROO_OWNER_AT | unit << BUGAROO_UNIT_AT | (u64)room << BUGAROO_ROOM_AT | size;
    }
    if (known) {
        // Whoever still goes by the larger elements finds that their words have moved.
        u32 parts = 1u << ((u32)(page & 3) - size);
        u64 old = unit_at(unit_of(page));
#pragma unroll 1
        for (u32 at = 0; at < words; at += parts) {
            u64 moved;
            asm volatile("atom.acq_rel.gpu.global.exch.b64 %0, [%1], %2;"
                         : "=l"(moved)
                         : "l"(old), "l"((u64)MOVED)
                         : "memory");
#pragma unroll 1
            for (u32 part = 0; part < parts; part++) store(unit_at(unit) + 8 * (at + part), moved);
            old += 8;
        }
    }
    return owner << BUGAROO_OWNER_AT | unit << BUGAROO_UNIT_AT | (u64)size << BUGAROO_ROOM_AT | size;
}

// The words of a page, for accesses of elements of at least this size; false where there is no room for them.
__device__ __forceinline__ bool find_words(u64 descriptor, u64 owner, u32 size, Words &words) {
#pragma unroll 1
    for (;;) {
        u64 page = acquired(descriptor);
        if (!(page & BUGAROO_BUSY) && page >> BUGAROO_OWNER_AT == owner && (page & 3) <= size) {
            words.first = unit_at(unit_of(page));
            words.shift = page & 3;
            return true;
        }
        // Those who are here together let one of them make it, and wait for nobody else meanwhile.
        u32 lanes = __activemask();
        bool full = false, busy = page & BUGAROO_BUSY;
        if (!busy && swap_if(descriptor, page, page | BUGAROO_BUSY) == page) {
            u64 made = MAKE_PAGE(page, owner, size);
            release(descriptor, made ? made : page);
            full = !made;
        }
        __syncwarp(lanes);
        if (full) return false;
        if (busy) give_way();
    }
}

// The descriptor of a global page; 0 where there is no room for it.
__device__ __forceinline__ u64 find_page(u64 number) {
    u64 key = number + 1;
    u32 at = (u32)mixed(number) & STATE.page_mask;
#pragma unroll 1
    for (u32 probe = 0; probe < BUGAROO_PAGE_PROBES; probe++) {
        u64 place = STATE.keys + 8 * (u64)at;
        u64 found = relaxed(place);
        if (found == 0) found = swap_if(place, 0, key);
        if (found == 0 || found == key) return STATE.pages + 8 * (u64)at;
        at = (at + 1) & STATE.page_mask;
    }
    return 0;
}
