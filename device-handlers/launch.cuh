// The state of a launch, the words that describe threads and sites, and the coin.

#pragma once

#include "layout.h"

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;
typedef unsigned char u8;

// One delayed store: the address with width (log2) and strength in its top bits, and the value.
struct __align__(16) Entry {
    u64 tagged;
    u64 value;
};

// What a CTA holds back from the rest of the device: see cta.cuh.
struct Cta {
    u64 held;
    u32 exited;
    u32 clock;
    u32 turn;
    u32 unused[3];
    u64 marks[BUGAROO_CTA_SLOTS / 8];
    Entry slots[BUGAROO_CTA_SLOTS];
};
static_assert(sizeof(Cta) == BUGAROO_CTA_BYTES, "size");
static_assert(__builtin_offsetof(Cta, held) == 0, "injected code looks at the first word");

struct Launch {
    u32 model;
    u32 features;
    u32 capacity;
    u32 coin_slots;
    u64 thresholds[2];
    u64 key;
    u64 threads;
    u64 *pending;
    Cta *ctas;
    u32 *taken;
    u32 *chunks;
    Entry *pool;
    u32 *next_chunk;
    u32 chunk_rows;
    u32 pool_chunks;
    u32 *coins;
    const u32 *flags;
    u64 *delayed;
    u64 *flushes;
};

#define AT(field) static_assert(__builtin_offsetof(Launch, field) == BUGAROO_OFFSET_##field, #field)
AT(model);
AT(features);
AT(capacity);
AT(coin_slots);
AT(thresholds);
AT(key);
AT(threads);
AT(pending);
AT(ctas);
AT(taken);
AT(chunks);
AT(pool);
AT(next_chunk);
AT(chunk_rows);
AT(pool_chunks);
AT(coins);
AT(flags);
AT(delayed);
AT(flushes);
static_assert(sizeof(Launch) == BUGAROO_LAUNCH_BYTES, "size");

extern "C" {
__constant__ Launch __bugaroo_launch;
}

// ---- a thread's word of counts: entries per space, strong entries, calls since the oldest strong one

static __device__ __forceinline__ u32 entries_of(u64 pending, u32 space) {
    return (u32)(pending >> (space * BUGAROO_COUNT_BITS)) & BUGAROO_COUNT_MASK;
}

static __device__ __forceinline__ u32 strong_of(u64 pending) {
    return (u32)(pending >> BUGAROO_STRONG_SHIFT) & BUGAROO_COUNT_MASK;
}

// Whether a thread's entries have to do with an access to this space: its own ones, or strong ones of
// any, for which handler calls are the clock.
static __device__ __forceinline__ bool concerns(u64 pending, u32 space) {
    return strong_of(pending) != 0 || space != BUGAROO_SPACE_GENERIC && entries_of(pending, space) != 0;
}

// ---- an entry's address word

static __device__ __forceinline__ u64 address_of(u64 tagged) { return tagged & BUGAROO_ADDRESS_MASK; }

static __device__ __forceinline__ u32 width_of(u64 tagged) {
    return (u32)(tagged >> BUGAROO_WIDTH_SHIFT) & 3;
}

static __device__ __forceinline__ u64 is_strong(u64 tagged) { return tagged >> BUGAROO_ENTRY_STRONG_SHIFT; }

static __device__ __forceinline__ u64 tag(u64 address, u32 width, u64 strong) {
    return address | (u64)width << BUGAROO_WIDTH_SHIFT | strong << BUGAROO_ENTRY_STRONG_SHIFT;
}

static __device__ __forceinline__ bool overlaps(u64 tagged, u64 address, u32 bytes) {
    u64 start = address_of(tagged);
    return start < address + bytes && address < start + (1ull << width_of(tagged));
}

// Whether an entry has all the bytes of a load.
static __device__ __forceinline__ bool covers(u64 tagged, u64 address, u32 width) {
    u64 start = address_of(tagged);
    return start <= address && address + (1ull << width) <= start + (1ull << width_of(tagged));
}

// ---- memory, as a drain sees it: volatile is at least as strong as any store that was delayed

extern "C" __device__ __noinline__ void __bugaroo_write(u64 tagged, u64 value) {
    u64 address = address_of(tagged);
    switch (width_of(tagged)) {
    case 0: *(volatile u8 *)address = (u8)value; break;
    case 1: *(volatile u16 *)address = (u16)value; break;
    case 2: *(volatile u32 *)address = (u32)value; break;
    default: *(volatile u64 *)address = value; break;
    }
}

static __device__ __forceinline__ u64 read_in(u64 address, u32 width) {
    switch (width) {
    case 0: return *(volatile u8 *)address;
    case 1: return *(volatile u16 *)address;
    case 2: return *(volatile u32 *)address;
    default: return *(volatile u64 *)address;
    }
}

static __device__ __forceinline__ void thread_fence() { asm volatile("membar.gl;" ::: "memory"); }

static __device__ __forceinline__ void block_fence() { asm volatile("membar.cta;" ::: "memory"); }

// ---- who this is

static __device__ __forceinline__ u32 linear_block() {
    return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

static __device__ __forceinline__ u32 block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

// ---- the word that describes a site

static __device__ __forceinline__ u32 field(u64 site, u32 shift, u32 mask) {
    return (u32)(site >> shift) & mask;
}

// Which buffer an access belongs to; BUGAROO_SPACE_GENERIC (2) when to none: local, parameter and
// constant memory are never delayed.
static __device__ __forceinline__ u32 buffer_of(u64 site, u64 address) {
    u32 space = field(site, BUGAROO_SITE_SPACE_SHIFT, 3);
    if (space == BUGAROO_SPACE_GENERIC) {
        const void *pointer = (const void *)address;
        if (__isShared(pointer)) space = BUGAROO_SPACE_SHARED;
        else if (__isGlobal(pointer)) space = BUGAROO_SPACE_GLOBAL;
    }
    return space;
}

// A misaligned access faults in the original instruction, so it has to run.
static __device__ __forceinline__ bool misaligned(u64 site, u64 address) {
    u32 width = field(site, BUGAROO_SITE_WIDTH_SHIFT, 3);
    u32 whole = width + field(site, BUGAROO_SITE_ELEMENTS_SHIFT, 3);
    u64 base = address - ((u64)field(site, BUGAROO_SITE_ELEMENT_SHIFT, 7) << width);
    return (base & ((1ull << whole) - 1)) != 0;
}

static __device__ __forceinline__ u64 mix(u64 x) {
    x = (x ^ x >> 30) * BUGAROO_MIX_1;
    x = (x ^ x >> 27) * BUGAROO_MIX_2;
    return x ^ x >> 31;
}

// The coin of this execution of this store by this thread: a hash of counters alone. The count goes on
// whatever the thresholds are. A vector's elements have counts of their own, in order.
static __device__ __forceinline__ bool toss(u32 thread, u64 site, u32 space) {
    const Launch &launch = __bugaroo_launch;
    u32 slot = (u32)(site >> BUGAROO_SITE_SLOT_SHIFT);
    if (slot >= launch.coin_slots) slot %= launch.coin_slots;
    u32 *counter = launch.coins + (u64)slot * launch.threads + thread;
    u32 element = field(site, BUGAROO_SITE_ELEMENT_SHIFT, 7);
    u32 count = *counter;
    if (element == 0) {
        *counter = count + (1u << field(site, BUGAROO_SITE_ELEMENTS_SHIFT, 3));
    } else {
        count = count - (1u << field(site, BUGAROO_SITE_ELEMENTS_SHIFT, 3)) + element;
    }
    if (space == BUGAROO_SPACE_GENERIC) return false;
    u64 id = (site & 0xffffffffull) << 32 | thread;
    u32 coin = (u32)(mix((launch.key ^ mix(id)) + count * BUGAROO_GOLDEN) >> 32);
    return coin < launch.thresholds[space];
}
