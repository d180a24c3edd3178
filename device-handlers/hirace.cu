// nvcc: -ptx -rdc=true -arch=compute_75

// HiRace on the device: what injected code calls before accesses, around barriers, and where threads begin and end.
//
// Source: Jacobson, Burtscher, Gopalakrishnan: "HiRace: Accurate and Fast Source-Level Race Checking of GPU Programs" (SC'24),
// algorithm 1: read the shadow word, look up the transition, compare and swap, until nobody has come between. The word, the machine
// and the rules are those of the native detector, whose head says where they depart from the paper (detectors/src/hirace).
//
// Where this departs from the native form:
//  - An access and the update of its words are not one. The paper takes them for one, too: of two accesses that nothing orders either
//    may have updated first. Accesses that barriers order have their words updated in that order, as an update comes before its
//    access and behind the barrier before.
//  - Each lane has clocks of its own, so that nobody waits to read them. A barrier of the block raises those of the lanes that were
//    there, and not of others of their warps.
//  - Two barriers of a block that complete at once may give one clock, and so may two meetings of parts of a warp: more races are found
//    where not all threads take part. Where the threads that wait at a numbered barrier are others in each of its phases, one
//    may be given the clock of the phase before, and a race may be made up by it; the native form sees a barrier complete, this one
//    only who comes and goes.
//  - Who of a block waits at a barrier is not known here: the host warns of all barriers with a thread count.
//  - Words of shared memory lie in global memory, in pages of the slot of a resident block.
//
// Rules for everything in here:
//  - Words are changed by atomics alone, and nobody holds anything while another waits, but for a page that is being made or whose
//    words are handed on to smaller elements, and the slot of a block that begins. Who waits does so behind a system fence,
//    so that others get their turn on a virtual GPU as well.
//  - Lanes arrive diverged. Where lanes of a warp wait for one of their own, that one has done its part before they begin to.
//  - Nothing here relies on a schedule, nor on what a virtual GPU does together.

#include "hirace_layout.h"
#include "words.cuh"

struct Hirace {
    u64 control;
    u64 slots;
    u64 blocks;
    u64 keys;
    u64 pages;
    u64 shared;
    u64 words;
    u64 races;
    u64 units;
    u64 global_from;
    u64 block_bytes;
    u64 watched;
    u32 page_mask;
    u32 race_mask;
    u32 ctas;
    u32 shared_pages;
    u32 thread;
    u32 block;
    u32 warp_clock;
    u32 block_clock;
    u32 site;
    u32 lockstep;
};
#define AT(field) static_assert(__builtin_offsetof(Hirace, field) == BUGAROO_HIRACE_OFFSET_##field, #field)
AT(control);
AT(slots);
AT(blocks);
AT(keys);
AT(pages);
AT(shared);
AT(words);
AT(races);
AT(units);
AT(global_from);
AT(block_bytes);
AT(watched);
AT(page_mask);
AT(race_mask);
AT(ctas);
AT(shared_pages);
AT(thread);
AT(block);
AT(warp_clock);
AT(block_clock);
AT(site);
AT(lockstep);
static_assert(sizeof(Hirace) == BUGAROO_HIRACE_BYTES, "size");

extern "C" {
__constant__ Hirace __bugaroo_hirace;
// By state, then action, how far apart, and what has been passed since.
__device__ u8 __bugaroo_hirace_machine[BUGAROO_PLACES] = {BUGAROO_MACHINE};
}

#define STATE __bugaroo_hirace
#define MAKE_PAGE __bugaroo_hirace_make
#define AMONG_WATCHED __bugaroo_hirace_watched
#define MOVED BUGAROO_MOVED

// A block begins in a slot.
__device__ __forceinline__ void make_block(u64 state, u32 threads) {
    store32(state + BUGAROO_BLOCK_LATEST, 0);
#pragma unroll 1
    for (u32 warp = 0; warp * 32 < threads; warp++) {
        u32 rest = threads - warp * 32;
        store(state + BUGAROO_BLOCK_WARPS + 8 * warp, 0);
        store32(state + BUGAROO_BLOCK_ALIVE + 4 * warp, rest >= 32 ? ~0u : (1u << rest) - 1);
    }
}

#include "blocks.cuh"
#include "pages.cuh"
#include "report.cuh"
#include "watched.cuh"

// ---- who

__device__ __forceinline__ u64 own_clocks(u64 state, u32 thread) {
    return state + BUGAROO_BLOCK_THREAD + 16 * (u64)thread;
}

__device__ __forceinline__ bool over() {
    return relaxed(__bugaroo_hirace.control + BUGAROO_CONTROL_OVER) != 0;
}

// A clock of this many bits has become too late.
__device__ __forceinline__ void check_clock(u32 clock, u32 bits) {
    if (clock >> bits) store(__bugaroo_hirace.control + BUGAROO_CONTROL_OVER, 1);
}

// ---- races

// Whether the two are of different warps, and the like: the number of Apart.
__device__ __forceinline__ u32 apart(u64 old, u64 now) {
    const Hirace &hirace = __bugaroo_hirace;
    u64 differs = ((old ^ now) >> BUGAROO_THREAD_AT) & ((1ull << (hirace.thread + hirace.block)) - 1);
    return (differs != 0) + (differs >> BUGAROO_LANE_BITS != 0) + (differs >> hirace.thread != 0);
}

// Which barrier has been passed since: the number of Since.
__device__ __forceinline__ u32 since(u64 old, u64 now) {
    const Hirace &hirace = __bugaroo_hirace;
    u32 at = BUGAROO_THREAD_AT + hirace.thread + hirace.block;
    u64 mask = (1ull << (hirace.warp_clock + hirace.block_clock)) - 1;
    u64 before = (old >> at) & mask, later = (now >> at) & mask;
    return (later > before) + (later >> hirace.warp_clock > before >> hirace.warp_clock);
}

extern "C" __device__ __noinline__ void __bugaroo_hirace_race(u64 old, u64 now, u64 address, u32 place, u32 shared) {
    const Hirace &hirace = __bugaroo_hirace;
    // All but who they were, and when.
    u32 fields = hirace.thread + hirace.block + hirace.warp_clock + hirace.block_clock;
    u64 kept = (1ull << BUGAROO_THREAD_AT) - 1;
    if (hirace.site) kept |= ~0ull << (BUGAROO_THREAD_AT + fields);
    u64 key = mixed((old & kept) ^ mixed((u64)place << 8 | shared << 4 | apart(old, now) << 2 | since(old, now))) | 1;
    bool is_new;
    u64 entry = find_entry(key, is_new);
    if (!entry) {
        count(BUGAROO_CONTROL_LOST);
        return;
    }
    if (is_new) {
        store(entry + BUGAROO_RACE_OLD, old);
        store(entry + BUGAROO_RACE_NEW, now);
        store(entry + BUGAROO_RACE_ADDRESS, address);
        store32(entry + BUGAROO_RACE_PLACE, place);
        store32(entry + BUGAROO_RACE_SHARED, shared);
        finish_entry(entry);
    }
    add(entry + BUGAROO_RACE_COUNT, 1);
}

// An element gets the word of an access; false where its word has moved.
__device__ __forceinline__ bool step(u64 element, u64 now, u64 address, u32 place, u32 shared) {
    u64 old = relaxed(element);
    u32 action = (u32)(now >> BUGAROO_ACTION_AT) & 3;
#pragma unroll 1
    for (;;) {
        u32 state = (u32)old & BUGAROO_STATE;
        if (state == BUGAROO_MOVED) return false;
        u32 how = apart(old, now);
        if (__bugaroo_hirace.lockstep && how == 1) how = 0;
        u32 next = __bugaroo_hirace_machine[state << BUGAROO_INPUT_BITS | action << 4 | how << 2 | since(old, now)];
        u64 word = now | next;
        // The thread has done the same before, or it does not matter which of the threads has accessed last: the word stays, so
        // that those who all read one element do not contend for it.
        if (word == old || next == state && BUGAROO_STAYS >> state & 1) return true;
        u64 seen = swap_if(element, old, word);
        if (seen == old) {
            if (next == BUGAROO_RACE && state != next) __bugaroo_hirace_race(old, now, address, place, shared);
            return true;
        }
        old = seen;
    }
}

extern "C" {

// A thread of a kernel begins.
__device__ __noinline__ void __bugaroo_hirace_begin() {
    u64 clocks = own_clocks(begin_thread(), linear_thread());
    store(clocks, 0);
    store(clocks + 8, 0);
}

// It ends.
__device__ __noinline__ void __bugaroo_hirace_exit() {
    u64 state = own_state();
    u32 thread = linear_thread();
    asm volatile("red.relaxed.gpu.global.and.b32 [%0], %1;" ::"l"(state + BUGAROO_BLOCK_ALIVE + 4 * (thread / 32)),
                 "r"(~(1u << thread % 32))
                 : "memory");
    end_thread(state);
}

// A lane is about to access memory.
__device__ __noinline__ void __bugaroo_hirace_access(u64 address, u64 what) {
    const Hirace &hirace = __bugaroo_hirace;
    Where to = where(address);
    if (!to.is_shared && !to.is_global) return;
    u64 block = linear_block();
    u32 thread = linear_thread();
    u32 slot = relaxed32(slot_of(block)) - BUGAROO_FIRST_SLOT;
    u64 state = state_of(slot);
    count_access(state);
    u32 size = (u32)(what >> BUGAROO_WHAT_SIZE_AT) & 7;
    u64 bytes = (what >> BUGAROO_WHAT_ELEMENTS_AT & 15) << size;
    if (over() || !is_watched(to.at, bytes, to.is_shared)) return;

    u64 clocks = relaxed(own_clocks(state, thread));
    u64 clock = clocks >> 32 << hirace.warp_clock | (u32)clocks;
    u32 place = (u32)what;
    u32 at_block = BUGAROO_THREAD_AT + hirace.thread;
    u32 at_clock = at_block + hirace.block;
    u64 now = clock << at_clock | (u64)thread << BUGAROO_THREAD_AT;
    // Without any bits for it a field may be behind the word's last.
    if (hirace.block) now |= block << at_block;
    if (hirace.site && place + 1ull < 1ull << hirace.site)
        now |= (place + 1ull) << (at_clock + hirace.warp_clock + hirace.block_clock);
    now |= (what >> BUGAROO_WHAT_ACTION_AT & 3) << BUGAROO_ACTION_AT;
    now |= (what >> BUGAROO_WHAT_KEPT_AT & 1) << BUGAROO_KEPT_AT;

    u64 at = to.at;
    u64 end = at + bytes;
    size = size < BUGAROO_LARGEST ? size : BUGAROO_LARGEST;
#pragma unroll 1
    while (at < end) {
        u64 number = at >> BUGAROO_PAGE_SHIFT;
        u64 descriptor = 0;
        if (!to.is_shared)
            descriptor = find_page(number);
        else if (number < hirace.shared_pages)
            descriptor = hirace.shared + 8 * (slot * (u64)hirace.shared_pages + number);
        Words words;
        if (!descriptor || !find_words(descriptor, to.is_shared ? block + 1 : 1, size, words)) {
            count(BUGAROO_CONTROL_REFUSED);
            return;
        }
        // An access is aligned to its bytes, so that it is within one page.
        u64 element = words.first + ((at & ((1ull << BUGAROO_PAGE_SHIFT) - 1)) >> words.shift) * 8;
        if (step(element, now, at, place, to.is_shared)) at += 1ull << words.shift;
    }
}

// It comes to a barrier of the block. Answers the barrier's phase.
__device__ __noinline__ u32 __bugaroo_hirace_arrive(u32 barrier) {
    u64 at = barrier_of(own_state(), barrier);
    return (u32)(relaxed(at) >> 32);
}

// It goes on behind it. The first one gives the barrier a clock above all that its block has had; the others take it.
__device__ __noinline__ void __bugaroo_hirace_leave(u32 barrier, u32 phase) {
    u64 state = own_state();
    u64 at = barrier_of(state, barrier);
    u64 word = relaxed(at);
    if ((u32)(word >> 32) == phase) {
        u64 next = (u64)(phase + 1) << 32 | (relaxed32(state + BUGAROO_BLOCK_LATEST) + 1);
        u64 seen = swap_if(at, word, next);
        word = seen == word ? next : seen;
    }
    u32 clock = (u32)word;
    // Before anything else, so that the next barrier is above it.
    if (relaxed32(state + BUGAROO_BLOCK_LATEST) < clock)
        asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(state + BUGAROO_BLOCK_LATEST), "r"(clock) : "memory");
    check_clock(clock, __bugaroo_hirace.block_clock);
    u64 clocks = own_clocks(state, linear_thread());
    if (relaxed(clocks) >> 32 < clock) store(clocks, (u64)clock << 32);
}

// It comes to bar.warp.sync: the lanes that meet go on above all that any of them has had.
__device__ __noinline__ void __bugaroo_hirace_meet(u32 mask) {
    u64 state = own_state();
    u32 thread = linear_thread(), warp = thread / 32;
    u64 latest = state + BUGAROO_BLOCK_WARPS + 8 * (u64)warp;
    u64 clocks = own_clocks(state, thread);
    u64 own = relaxed(clocks), known = relaxed(latest);
    store(clocks + 8, own > known ? own : known);
    // They wait for each other anyway. Nobody comes here again before all have read.
    __syncwarp(mask);
    u64 most = 0;
#pragma unroll 1
    for (u32 left = mask; left; left &= left - 1) {
        u64 other = relaxed(own_clocks(state, warp * 32 + __ffs(left) - 1) + 8);
        most = other > most ? other : most;
    }
    most++;
    store(clocks, most);
    if (relaxed(latest) < most)
        asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" ::"l"(latest), "l"(most) : "memory");
    check_clock((u32)most, __bugaroo_hirace.warp_clock);
    u32 alive = relaxed32(state + BUGAROO_BLOCK_ALIVE + 4 * warp);
    if (alive & ~mask && thread % 32 == __ffs(alive & mask) - 1) count(BUGAROO_CONTROL_PARTIAL);
}
}
