// nvcc: -ptx -rdc=true -arch=compute_75

// The device code that instrumented PTX calls: per-thread store buffers (buffers.cuh), and what CTAs hold
// back (cta.cuh).
//
// Two models in one text, chosen by launch state, so that one instrumented module serves every
// configuration:
//  - store-buffer: a delayed store does not touch memory before it drains; loads
//    compose or drain by byte range; same address in order; strong stores drain after a bounded while;
//    what orders for one CTA alone makes visible to that CTA alone.
//  - bugaroo (Islam & Muzahid, Algorithms 1 and 2; paper.cuh), quirks included: a delayed store first happens,
//    then the old value is put back; addresses match by equality alone; atomics, releases and
//    __syncwarp do not look at the buffers.
//
// Rules for everything in here: lanes arrive diverged, so no bar, shfl, vote or match; but for
// the CTA's slots, which have a protocol of their own, nothing but the thread's own part of the launch's
// arrays is written, so no handler can race with another.
//
// Compiled with the flags above into handlers.ptx, which is checked in (apps/rebuild-ptx). Layouts
// and constants come from layout.h, which the Rust crate beside this file generates. Everything that is
// not inlined is extern "C": the compiler's own names for internal functions hold a hash of the path.
// Loops stay rolled: most buffers hold few entries, and every module carries this text.

#include "cta.cuh"
#include "paper.cuh"

// ---- what the injected code calls

extern "C" {

// In a function's prologue, when the launch has features: the address of the thread's word of counts; its
// linear index in the launch in the low half, its CTA's in the high half.
__device__ __noinline__ ulonglong2 __bugaroo_enter() {
    u32 block = linear_block();
    u32 in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    u32 thread = block * block_threads() + in_block;
    return make_ulonglong2((u64)(__bugaroo_launch.pending + thread), (u64)block << 32 | thread);
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
        __bugaroo_drain_for_device(thread);
        return make_ulonglong2(0, BUGAROO_RUN);
    }
    if (space == BUGAROO_SPACE_GENERIC) return make_ulonglong2(0, BUGAROO_RUN);

    // What the CTA holds of these bytes is older than this store.
    if (space == BUGAROO_SPACE_GLOBAL) leave_overlapping(own_cta(), address, 1u << width);
    u64 strong = field(site, BUGAROO_SITE_STRONG_SHIFT, 1);
    bool vector = field(site, BUGAROO_SITE_ELEMENTS_SHIFT, 3) != 0;
    // The model lets a vector's elements arrive one by one, but no GPU does that, and a status stored beside
    // its value (CUB's scans) counts on it: strong vectors stay whole, so they are not delayed.
    if (vector && strong) coin = false;
    u32 count = entries_of(pending, space);
#pragma unroll 1
    for (u32 entry = 0; entry < count; entry++) {
        Entry *found = entry_at(thread, space, entry);
        u64 tagged = found->tagged;
        if (!overlaps(tagged, address, 1u << width)) continue;
        if (coin && address_of(tagged) == address && width_of(tagged) == width) {
            // Entries never overlap, so this is the only one. Its older value is never seen.
            found->value = value;
            if (strong > is_strong(tagged)) {
                found->tagged = tag(address, width, 1);
                launch.pending[thread] = pending + (1ull << BUGAROO_STRONG_SHIFT);
            }
            atomicAdd(launch.delayed, 1ull);
            return make_ulonglong2(0, BUGAROO_DELAYED);
        }
        pending = __bugaroo_flush(thread, space, OVERLAPPING, address, 1u << width);
        break;
    }
    if (coin) {
        bool full = entries_of(pending, space) >= launch.capacity;
        if (full || !take_room(thread, space, entries_of(pending, space))) {
            __bugaroo_empty(thread, space, 0, BUGAROO_EVENT_EXIT);
            pending = launch.pending[thread];
        }
        // A dry pool may leave a thread without any room: then its stores are not delayed.
        if (take_room(thread, space, 0)) {
            append(thread, space, tag(address, width, strong), value, pending);
            return make_ulonglong2(0, BUGAROO_DELAYED);
        }
    }
    if (vector && !strong && launch.thresholds[space] != 0) {
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
    u64 pending = launch.pending[thread];
    if (!take_room(thread, space, entries_of(pending, space))) {
        // The pool is dry: what was buffered goes, and this store stays in memory.
        __bugaroo_flush(thread, space, ALL, 0, 0);
        thread_fence();
        return;
    }
    u64 value = read_in(address, width);
    __bugaroo_write(tagged, old);
    thread_fence();
    pending = append(thread, space, tagged, value, pending);
    if (entries_of(pending, space) >= launch.capacity) {
        __bugaroo_flush(thread, space, ALL, 0, 0);
        thread_fence();
    }
}

// Before a load (of one element), when the thread has entries or its CTA holds some. y: 1 when x is the
// value (raw bits, the bytes above the width are unspecified), 0: the original has to run.
__device__ __noinline__ ulonglong2 __bugaroo_load(u32 thread, u64 address, u64 site) {
    const Launch &launch = __bugaroo_launch;
    u32 space = buffer_of(site, address);
    u32 width = field(site, BUGAROO_SITE_WIDTH_SHIFT, 3);
    if (misaligned(site, address)) space = BUGAROO_SPACE_GENERIC;
    if (launch.model == BUGAROO_MODEL_BUGAROO) {
        if (space == BUGAROO_SPACE_GENERIC) return make_ulonglong2(0, 0);
        return __bugaroo_paper_load(thread, address, space, width);
    }
    // Most often the entries are another space's.
    Cta *cta = own_cta();
    u64 pending = launch.pending[thread];
    if (!concerns(pending, space) && (space == BUGAROO_SPACE_SHARED || held_by(cta) == 0)) {
        return make_ulonglong2(0, 0);
    }
    pending = tick(thread);
    age(cta);
    if (space == BUGAROO_SPACE_GENERIC) return make_ulonglong2(0, 0);
    u32 forward = !field(site, BUGAROO_SITE_DRAINS_SHIFT, 1);
    u32 count = entries_of(pending, space);
#pragma unroll 1
    for (u32 entry = 0; entry < count; entry++) {
        Entry found = *entry_at(thread, space, entry);
        if (!overlaps(found.tagged, address, 1u << width)) continue;
        if (covers(found.tagged, address, width) && forward) {
            return make_ulonglong2(found.value >> ((u32)(address - address_of(found.tagged)) * 8), 1);
        }
        // What the CTA holds of the other bytes is older: it goes first.
        if (space == BUGAROO_SPACE_GLOBAL) leave_overlapping(cta, address, 1u << width);
        __bugaroo_flush(thread, space, OVERLAPPING, address, 1u << width);
        return make_ulonglong2(0, 0);
    }
    if (space == BUGAROO_SPACE_GLOBAL) return __bugaroo_held(cta, address, width, forward);
    return make_ulonglong2(0, 0);
}

// Before an atomic, when the thread has entries or its CTA holds some. The paper's algorithm does not name
// atomics.
__device__ __noinline__ void __bugaroo_atomic(u32 thread, u64 address, u64 site) {
    if (__bugaroo_launch.model == BUGAROO_MODEL_BUGAROO) return;
    if (field(site, BUGAROO_SITE_DRAINS_SHIFT, 1)) {
        __bugaroo_drain_for_device(thread);
        return;
    }
    u32 space = buffer_of(site, address);
    Cta *cta = own_cta();
    u64 pending = __bugaroo_launch.pending[thread];
    if (!concerns(pending, space) && (space == BUGAROO_SPACE_SHARED || held_by(cta) == 0)) return;
    pending = tick(thread);
    age(cta);
    u32 bytes = 1u << field(site, BUGAROO_SITE_WIDTH_SHIFT, 3);
    if (space == BUGAROO_SPACE_GLOBAL) leave_overlapping(cta, address, bytes);
    if (space == BUGAROO_SPACE_GENERIC || entries_of(pending, space) == 0) return;
    __bugaroo_flush(thread, space, OVERLAPPING, address, bytes);
}

// Before anything else that orders, waits, or is not understood, when the thread has entries or its CTA
// holds some; at a thread's end always.
__device__ __noinline__ void __bugaroo_drain(u32 thread, u32 event) {
    if (__bugaroo_launch.model == BUGAROO_MODEL_BUGAROO) {
        if (event == BUGAROO_EVENT_BARRIER) {
            __bugaroo_flush(thread, BUGAROO_SPACE_SHARED, ALL, 0, 0);
        } else if (event != BUGAROO_EVENT_WARP_BARRIER && event != BUGAROO_EVENT_COLLECTIVE) {
            __bugaroo_flush_both(thread, ALL);
        }
        return;
    }
    switch (event) {
    case BUGAROO_EVENT_COLLECTIVE:
        if (strong_of(__bugaroo_launch.pending[thread]) != 0) __bugaroo_flush_both(thread, STRONG);
        break;
    case BUGAROO_EVENT_CTA_FENCE:
    case BUGAROO_EVENT_BARRIER:
    case BUGAROO_EVENT_WARP_BARRIER:
        __bugaroo_drain_for_cta(thread, event);
        break;
    case BUGAROO_EVENT_EXIT:
        // Slots are not worth it any more. The last thread of the CTA leaves nothing behind in them.
        empty_both(thread, 0, event);
        if (atomicAdd(&own_cta()->exited, 1u) + 1 == block_threads()) __bugaroo_leave_all(own_cta());
        break;
    default: __bugaroo_drain_for_device(thread); break;
    }
}

// What the fence at this site, which drains for `event`, drains for: the same, less (NARROW), or BUGAROO_OMITTED.
__device__ __noinline__ u32 __bugaroo_fence(u32 site, u32 event) {
    const Launch &launch = __bugaroo_launch;
    u32 flags = launch.flags[site];
    if (flags & BUGAROO_FLAG_OMIT) return BUGAROO_OMITTED;
    return flags & BUGAROO_FLAG_NARROW && launch.model != BUGAROO_MODEL_BUGAROO ? BUGAROO_EVENT_CTA_FENCE : event;
}

// After an access: the fence that the site table may ask for.
__device__ __noinline__ void __bugaroo_inserted_fence(u32 thread, u32 site) {
    const Launch &launch = __bugaroo_launch;
    u32 flags = launch.flags[site];
    if ((flags & BUGAROO_FLAG_INSERT) == 0) return;
    if (launch.model == BUGAROO_MODEL_BUGAROO) {
        __bugaroo_flush_both(thread, ALL);
    } else if (flags & BUGAROO_FLAG_NARROW) {
        __bugaroo_drain_for_cta(thread, BUGAROO_EVENT_CTA_FENCE);
        block_fence();
        return;
    } else {
        __bugaroo_drain_for_device(thread);
    }
    thread_fence();
}

} // extern "C"
