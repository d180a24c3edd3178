// nvcc: -ptx -rdc=true -arch=compute_75

// The device code that instrumented PTX calls: per-thread store buffers.
//
// Two models in one text, chosen by launch state, so that one instrumented module serves every
// configuration:
//  - store-buffer (DESIGN part 4): a delayed store does not touch memory before it drains; loads
//    compose or drain by byte range; same address in order; strong stores drain after a bounded while.
//  - bugaroo (Islam & Muzahid, Algorithms 1 and 2), quirks included: a delayed store first happens,
//    then the old value is put back; addresses match by equality alone; atomics, releases and
//    __syncwarp do not look at the buffers.
//
// Rules for everything in here: lanes arrive diverged, so no bar, shfl, vote or match; nothing but the
// thread's own slots of the launch's arrays is written, so no handler can race with another.
//
// Compiled with the flags above into handlers.ptx, which is checked in (apps/rebuild-ptx). Layouts
// and constants come from layout.h, which the Rust crate beside this file generates. Everything that is
// not inlined is extern "C": the compiler's own names for internal functions hold a hash of the path.
// Loops stay rolled: most buffers hold few entries, and every module carries this text.

#include "layout.h"

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;
typedef unsigned char u8;

struct Launch {
    u32 model;
    u32 features;
    u32 capacity;
    u32 coin_slots;
    u64 thresholds[2];
    u64 key;
    u64 threads;
    u64 *pending;
    u64 *addresses;
    u64 *values;
    u32 *coins;
    const u32 *flags;
    u64 *delayed;
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
AT(addresses);
AT(values);
AT(coins);
AT(flags);
AT(delayed);
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

// ---- entries: the address with the width (log2) and the strength in its top bits, and the value

static __device__ __forceinline__ u64 entry_index(u32 thread, u32 space, u32 entry) {
    const Launch &launch = __bugaroo_launch;
    return (u64)(space * launch.capacity + entry) * launch.threads + thread;
}

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

// ---- memory, as the drain sees it: volatile is at least as strong as any store that was delayed

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

// ---- draining

enum What { ALL, STRONG, OVERLAPPING };

// Writes the selected entries of one space out, oldest first, and closes the gaps. (The paper's flush of
// everything is this one; __bugaroo_empty is ours.) Returns the
// thread's new word of counts, which is also stored.
extern "C" __device__ __noinline__ u64 __bugaroo_flush(u32 thread, u32 space, u32 what, u64 address, u32 bytes) {
    const Launch &launch = __bugaroo_launch;
    u64 pending = launch.pending[thread];
    u32 count = entries_of(pending, space);
    u64 stride = launch.threads;
    u64 from = entry_index(thread, space, 0);
    u64 to = from;
    u64 gone = 0;
#pragma unroll 1
    for (u32 entry = 0; entry < count; entry++, from += stride) {
        u64 tagged = launch.addresses[from];
        u64 value = launch.values[from];
        bool out = what == ALL;
        if (what == STRONG) out = is_strong(tagged) != 0;
        if (what == OVERLAPPING) out = overlaps(tagged, address, bytes);
        if (out) {
            __bugaroo_write(tagged, value);
            gone += (1ull << (space * BUGAROO_COUNT_BITS)) + (is_strong(tagged) << BUGAROO_STRONG_SHIFT);
        } else {
            if (to != from) {
                launch.addresses[to] = tagged;
                launch.values[to] = value;
            }
            to += stride;
        }
    }
    pending -= gone;
    // Without strong entries the clock stands at zero, so that an empty thread's word is zero.
    if (strong_of(pending) == 0) pending &= BUGAROO_COUNTS_MASK;
    launch.pending[thread] = pending;
    return pending;
}

// Writes all entries of one space out, newest first: they are to different bytes and nothing orders them
// yet, so any order is allowed, and the newest is the likeliest to be a flag for the others.
extern "C" __device__ __noinline__ void __bugaroo_empty(u32 thread, u32 space) {
    const Launch &launch = __bugaroo_launch;
    u64 pending = launch.pending[thread];
    u64 stride = launch.threads;
    u32 count = entries_of(pending, space);
    u64 index = entry_index(thread, space, count);
    u64 gone = (u64)count << (space * BUGAROO_COUNT_BITS);
#pragma unroll 1
    for (u32 entry = count; entry != 0; entry--) {
        index -= stride;
        u64 tagged = launch.addresses[index];
        gone += is_strong(tagged) << BUGAROO_STRONG_SHIFT;
        __bugaroo_write(tagged, launch.values[index]);
    }
    pending -= gone;
    if (strong_of(pending) == 0) pending &= BUGAROO_COUNTS_MASK;
    launch.pending[thread] = pending;
}

extern "C" __device__ __noinline__ void __bugaroo_empty_both(u32 thread) {
    u64 pending = __bugaroo_launch.pending[thread];
    if (entries_of(pending, BUGAROO_SPACE_GLOBAL) != 0) __bugaroo_empty(thread, BUGAROO_SPACE_GLOBAL);
    if (entries_of(pending, BUGAROO_SPACE_SHARED) != 0) __bugaroo_empty(thread, BUGAROO_SPACE_SHARED);
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

static __device__ __forceinline__ u64 append(u32 thread, u32 space, u64 tagged, u64 value, u64 pending) {
    const Launch &launch = __bugaroo_launch;
    u64 index = entry_index(thread, space, entries_of(pending, space));
    launch.addresses[index] = tagged;
    launch.values[index] = value;
    pending += (1ull << (space * BUGAROO_COUNT_BITS)) + (is_strong(tagged) << BUGAROO_STRONG_SHIFT);
    launch.pending[thread] = pending;
    atomicAdd(launch.delayed, 1ull);
    return pending;
}

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

// ---- model bugaroo

// Algorithm 1, lines 25 to 35.
extern "C" __device__ __noinline__ ulonglong2 __bugaroo_paper_store(
    u32 thread, u64 address, u32 space, u32 width, u32 coin) {
    const Launch &launch = __bugaroo_launch;
    u64 pending = launch.pending[thread];
    u32 count = entries_of(pending, space);
    u64 stride = launch.threads;
    u64 index = entry_index(thread, space, 0);
#pragma unroll 1
    for (u32 entry = 0; entry < count; entry++, index += stride) {
        u64 tagged = launch.addresses[index];
        if (address_of(tagged) != address) continue;
        __bugaroo_write(tagged, launch.values[index]);
        thread_fence();
#pragma unroll 1
        for (entry++; entry < count; entry++, index += stride) {
            launch.addresses[index] = launch.addresses[index + stride];
            launch.values[index] = launch.values[index + stride];
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
    u64 stride = launch.threads;
    u64 index = entry_index(thread, space, 0);
#pragma unroll 1
    for (u32 entry = 0; entry < count; entry++, index += stride) {
        u64 tagged = launch.addresses[index];
        if (address_of(tagged) != address) continue;
        u64 value = launch.values[index];
        u32 held = 8u << width_of(tagged);
        if (width_of(tagged) < width) value |= read_in(address, width) >> held << held;
        return make_ulonglong2(value, 1);
    }
    return make_ulonglong2(0, 0);
}

// ---- what the injected code calls

extern "C" {

// In a function's prologue, when the launch has features: the address of the thread's word of counts,
// and its linear index in the launch.
__device__ __noinline__ ulonglong2 __bugaroo_enter() {
    u32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    u32 in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    u32 thread = block * (blockDim.x * blockDim.y * blockDim.z) + in_block;
    return make_ulonglong2((u64)(__bugaroo_launch.pending + thread), thread);
}

// Before a store (of one element). y: BUGAROO_RUN the original, BUGAROO_DELAYED: it must not run,
// BUGAROO_RUN_AND_RESTORE: run it, then call __bugaroo_restore with x.
__device__ __noinline__ ulonglong2 __bugaroo_store(u32 thread, u64 address, u64 value, u64 site) {
    const Launch &launch = __bugaroo_launch;
    u32 space = buffer_of(site, address);
    bool coin = toss(thread, site, space);
    u32 width = field(site, BUGAROO_SITE_WIDTH_SHIFT, 3);
    if (misaligned(site, address)) space = BUGAROO_SPACE_GENERIC;
    if (launch.model == BUGAROO_MODEL_BUGAROO) {
        if (space == BUGAROO_SPACE_GENERIC) return make_ulonglong2(0, BUGAROO_RUN);
        return __bugaroo_paper_store(thread, address, space, width, coin);
    }
    u64 pending = tick(thread);
    if (field(site, BUGAROO_SITE_DRAINS_SHIFT, 1)) {
        __bugaroo_empty_both(thread);
        return make_ulonglong2(0, BUGAROO_RUN);
    }
    if (space == BUGAROO_SPACE_GENERIC) return make_ulonglong2(0, BUGAROO_RUN);

    u64 strong = field(site, BUGAROO_SITE_STRONG_SHIFT, 1);
    u32 count = entries_of(pending, space);
    u64 stride = launch.threads;
    u64 index = entry_index(thread, space, 0);
#pragma unroll 1
    for (u32 entry = 0; entry < count; entry++, index += stride) {
        u64 tagged = launch.addresses[index];
        if (!overlaps(tagged, address, 1u << width)) continue;
        if (coin && address_of(tagged) == address && width_of(tagged) == width) {
            // Entries never overlap, so this is the only one. Its older value is never seen.
            launch.values[index] = value;
            if (strong > is_strong(tagged)) {
                launch.addresses[index] = tag(address, width, 1);
                launch.pending[thread] = pending + (1ull << BUGAROO_STRONG_SHIFT);
            }
            atomicAdd(launch.delayed, 1ull);
            return make_ulonglong2(0, BUGAROO_DELAYED);
        }
        pending = __bugaroo_flush(thread, space, OVERLAPPING, address, 1u << width);
        break;
    }
    if (coin) {
        if (entries_of(pending, space) >= launch.capacity) {
            __bugaroo_empty(thread, space);
            pending = launch.pending[thread];
        }
        append(thread, space, tag(address, width, strong), value, pending);
        return make_ulonglong2(0, BUGAROO_DELAYED);
    }
    if (field(site, BUGAROO_SITE_ELEMENTS_SHIFT, 3) != 0 && launch.thresholds[space] != 0) {
        // The vector's other elements may be delayed, so the original cannot run: element by element.
        __bugaroo_write(tag(address, width, 0), value);
        return make_ulonglong2(0, BUGAROO_DELAYED);
    }
    return make_ulonglong2(0, BUGAROO_RUN);
}

// After a store that __bugaroo_store answered with RUN_AND_RESTORE: Algorithm 2, lines 1 to 10; and
// Algorithm 1, lines 13 to 18 of whatever instruction comes next.
__device__ __noinline__ void __bugaroo_restore(u32 thread, u64 address, u64 old, u64 site) {
    const Launch &launch = __bugaroo_launch;
    u32 space = buffer_of(site, address);
    u32 width = field(site, BUGAROO_SITE_WIDTH_SHIFT, 3);
    u64 tagged = tag(address, width, 0);
    u64 value = read_in(address, width);
    __bugaroo_write(tagged, old);
    thread_fence();
    u64 pending = append(thread, space, tagged, value, launch.pending[thread]);
    if (entries_of(pending, space) >= launch.capacity) {
        __bugaroo_flush(thread, space, ALL, 0, 0);
        thread_fence();
    }
}

// Before a load (of one element), when the thread has entries. y: 1 when x is the value (raw bits, the
// bytes above the width are unspecified), 0: the original has to run.
__device__ __noinline__ ulonglong2 __bugaroo_load(u32 thread, u64 address, u64 site) {
    const Launch &launch = __bugaroo_launch;
    u32 space = buffer_of(site, address);
    u32 width = field(site, BUGAROO_SITE_WIDTH_SHIFT, 3);
    if (misaligned(site, address)) space = BUGAROO_SPACE_GENERIC;
    if (launch.model == BUGAROO_MODEL_BUGAROO) {
        if (space == BUGAROO_SPACE_GENERIC) return make_ulonglong2(0, 0);
        return __bugaroo_paper_load(thread, address, space, width);
    }
    u64 pending = tick(thread);
    if (space == BUGAROO_SPACE_GENERIC) return make_ulonglong2(0, 0);
    u32 count = entries_of(pending, space);
    u64 stride = launch.threads;
    u64 index = entry_index(thread, space, 0);
#pragma unroll 1
    for (u32 entry = 0; entry < count; entry++, index += stride) {
        u64 tagged = launch.addresses[index];
        if (!overlaps(tagged, address, 1u << width)) continue;
        u64 start = address_of(tagged);
        bool whole = start <= address && address + (1ull << width) <= start + (1ull << width_of(tagged));
        if (whole && !field(site, BUGAROO_SITE_DRAINS_SHIFT, 1)) {
            return make_ulonglong2(launch.values[index] >> ((u32)(address - start) * 8), 1);
        }
        __bugaroo_flush(thread, space, OVERLAPPING, address, 1u << width);
        break;
    }
    return make_ulonglong2(0, 0);
}

// Before an atomic, when the thread has entries. The paper's algorithm does not name atomics.
__device__ __noinline__ void __bugaroo_atomic(u32 thread, u64 address, u64 site) {
    if (__bugaroo_launch.model == BUGAROO_MODEL_BUGAROO) return;
    u64 pending = tick(thread);
    if (field(site, BUGAROO_SITE_DRAINS_SHIFT, 1)) {
        __bugaroo_empty_both(thread);
        return;
    }
    u32 space = buffer_of(site, address);
    if (space == BUGAROO_SPACE_GENERIC || entries_of(pending, space) == 0) return;
    __bugaroo_flush(thread, space, OVERLAPPING, address, 1u << field(site, BUGAROO_SITE_WIDTH_SHIFT, 3));
}

// Before anything else that orders, waits, or is not understood, when the thread has entries.
__device__ __noinline__ void __bugaroo_drain(u32 thread, u32 event) {
    if (__bugaroo_launch.model == BUGAROO_MODEL_BUGAROO) {
        if (event == BUGAROO_EVENT_BARRIER) {
            __bugaroo_flush(thread, BUGAROO_SPACE_SHARED, ALL, 0, 0);
        } else if (event != BUGAROO_EVENT_WARP_BARRIER && event != BUGAROO_EVENT_COLLECTIVE) {
            __bugaroo_flush_both(thread, ALL);
        }
        return;
    }
    if (event != BUGAROO_EVENT_COLLECTIVE) {
        __bugaroo_empty_both(thread);
    } else if (strong_of(__bugaroo_launch.pending[thread]) != 0) {
        __bugaroo_flush_both(thread, STRONG);
    }
}

// Whether the fence at this site is to do nothing.
__device__ __noinline__ u32 __bugaroo_omitted(u32 site) {
    return __bugaroo_launch.flags[site] & BUGAROO_FLAG_OMIT;
}

// After an access: the fence that the site table may ask for.
__device__ __noinline__ void __bugaroo_inserted_fence(u32 thread, u32 site) {
    const Launch &launch = __bugaroo_launch;
    if ((launch.flags[site] & BUGAROO_FLAG_INSERT) == 0) return;
    if (launch.model == BUGAROO_MODEL_BUGAROO) __bugaroo_flush_both(thread, ALL);
    else if (launch.model != 0) __bugaroo_empty_both(thread);
    thread_fence();
}

} // extern "C"
