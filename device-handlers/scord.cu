// nvcc: -ptx -rdc=true -arch=compute_75

// ScoRD on the device: what injected code calls before accesses, behind compare-and-swaps, at fences and barriers, and where threads begin
// and end.
//
// Source: Kamath, George, Basu: "ScoRD: A Scoped Race Detector for GPUs" (ISCA'20): a word of metadata for each four bytes, the
// preliminary checks of its table III and the conditions of its table IV. The word, the rules and the lock tables are those of the native
// detector, whose head says where they depart from the paper (detectors/src/scord).
//
// Where this departs from the native form:
//  - An access and the update of its words are not one. Words are changed by compare-and-swap, and what is judged is the word that is
//    replaced. Of two accesses that nothing orders either may have updated first. Those that are ordered have their words updated in that
//    order: an update comes before its access and what orders behind it, and behind what orders before it. A compare-and-swap
//    is known by its outcome, so that its update comes behind it, and before all else that its thread does.
//  - Fences and barriers are counted before the fence, and behind the barrier. Whoever judges reads the counts before it changes the word: of
//    a fence that is counted in between it does not know.
//  - An access of several words changes them one by one, and so does one of four bytes where others access single bytes.
//  - Rows of words are for all accesses as small as the smallest of a page of 4 KiB.
//  - What the word has room for is decided for the launch: for fences and for locks if its kernel may come to fences and to compare-and-swaps.
//  - Of barriers that complete at once several may count as one. Threads that do not wait at one get to know of it when those that do
//    go on. Who of a block waits is not known: of every barrier with a thread count it is warned.
//  - Lanes are looked at each for itself. Of lanes that hold different locks and access one place by one instruction any may be the last.
//  - Warps are one each: threads are not told apart, and there is no cache.
//
// Rules for everything in here:
//  - Words are changed by atomics alone, and nobody holds anything while another waits, but for a page that is being made or whose
//    words are handed on to smaller elements, the slot of a block that begins, and the lock tables of a warp, which hold up its own lanes
//    alone. Lanes that fence wait for the one that counts it. Who waits for others does so behind a system fence, so that others get their turn on a virtual GPU as well.
//  - Lanes arrive diverged. Those that are here together work on the lock tables one after the other, so that none waits for one that
//    runs with it.
//  - Nothing here relies on a schedule, nor on what a virtual GPU does together.

#include "scord_layout.h"
#include "words.cuh"

struct Scord {
    u64 control;
    u64 slots;
    u64 blocks;
    u64 keys;
    u64 pages;
    u64 words;
    u64 races;
    u64 counts;
    u64 file;
    u64 places;
    u64 units;
    u64 global_from;
    u64 moved;
    u64 watched;
    u32 page_mask;
    u32 race_mask;
    u32 ctas;
    u32 warps;
    u32 block_bytes;
    u32 locks;
    u32 bloom;
    u32 flags;
    u32 barrier;
    u32 blk_fence;
    u32 dev_fence;
    u32 warp;
    u32 block;
    u32 site;
    u32 wrote;
    u32 unused;
};
#define AT(field) static_assert(__builtin_offsetof(Scord, field) == BUGAROO_SCORD_OFFSET_##field, #field)
AT(control);
AT(slots);
AT(blocks);
AT(keys);
AT(pages);
AT(words);
AT(races);
AT(counts);
AT(file);
AT(places);
AT(units);
AT(global_from);
AT(moved);
AT(watched);
AT(page_mask);
AT(race_mask);
AT(ctas);
AT(warps);
AT(block_bytes);
AT(locks);
AT(bloom);
AT(flags);
AT(barrier);
AT(blk_fence);
AT(dev_fence);
AT(warp);
AT(block);
AT(site);
AT(wrote);
static_assert(sizeof(Scord) == BUGAROO_SCORD_BYTES, "size");

extern "C" {
__constant__ Scord __bugaroo_scord;
}

#define STATE __bugaroo_scord
#define MAKE_PAGE __bugaroo_scord_make
#define AMONG_WATCHED __bugaroo_scord_watched
#define MOVED STATE.moved

__device__ __forceinline__ u64 locks_of(u64 state, u32 warp) {
    return state + BUGAROO_BLOCK_LOCKS + BUGAROO_LOCKS_BYTES * (u64)warp;
}

// A block begins in a slot.
__device__ __forceinline__ void make_block(u64 state, u32 threads) {
    if (!STATE.locks) return;
#pragma unroll 1
    for (u32 warp = 0; warp * 32 < threads; warp++)
#pragma unroll 1
        for (u32 at = 0; at < BUGAROO_LOCKS_BYTES; at += 8) store(locks_of(state, warp) + at, 0);
}

#include "blocks.cuh"
#include "pages.cuh"
#include "report.cuh"
#include "watched.cuh"
#include "scord_rules.cuh"
#include "scord_locks.cuh"

// ---- counts

// A number of so many low bits of it as its field has.
__device__ __forceinline__ u32 cut(u32 number, u32 field) {
    return number & mask_of(field);
}

// A block's number in a word.
__device__ __forceinline__ u32 number_of(u64 block) {
    return cut((u32)block, STATE.block);
}

// Barriers of a block (upper half), and how many there were when one of its warps last fenced for the device.
__device__ __forceinline__ u64 counts_of(u32 number) {
    return STATE.counts + 8 * (u64)number;
}

// A warp's place in the fence file: its device fences, its block fences, and whether it has accessed memory since it last fenced.
__device__ __forceinline__ u64 fences_of(u32 number, u32 warp) {
    return STATE.file + 8 * (number * (u64)STATE.warps + warp);
}

__device__ __forceinline__ u32 dev_fences(u64 fences) {
    return (u32)(fences >> BUGAROO_FILE_DEV_AT);
}

__device__ __forceinline__ u32 blk_fences(u64 fences) {
    return (u32)(fences >> BUGAROO_FILE_BLK_AT) & BUGAROO_FILE_BLK_MASK;
}

__device__ __forceinline__ u64 read_fences(u32 number, u32 warp) {
    return STATE.file ? relaxed(fences_of(number, warp)) : 0;
}

// How often a barrier has completed.
__device__ __forceinline__ u32 phase_of(u64 barrier) {
    return (u32)(barrier >> BUGAROO_BARRIER_PHASE_AT);
}

// A number has become too large for its field.
__device__ __forceinline__ void check_count(u32 number, u32 field) {
    if (cut(number, field) != number) store(STATE.control + BUGAROO_CONTROL_WRAPPED, 1);
}

// The warp accesses memory. Answers its place in the fence file as it is by then: a fence that comes behind that counts.
__device__ __forceinline__ u64 touch(u32 number, u32 warp) {
    if (!STATE.file) return 0;
    u64 fences = read_fences(number, warp);
    if ((fences & BUGAROO_FILE_TOUCHED) == BUGAROO_FILE_TOUCHED) return fences;
    asm volatile("atom.relaxed.gpu.global.or.b64 %0, [%1], %2;"
                 : "=l"(fences)
                 : "l"(fences_of(number, warp)), "l"((u64)BUGAROO_FILE_TOUCHED)
                 : "memory");
    return fences;
}

// It fences. Where it has accessed nothing since the last fence its count need not change.
__device__ __forceinline__ void count_one(u32 number, u32 warp, bool device) {
    if (!STATE.file) return;
    u64 place = fences_of(number, warp), old = relaxed(place), now;
    u64 asks = device ? BUGAROO_FILE_SINCE_DEV : BUGAROO_FILE_SINCE_BLK;
    u64 clears = device ? BUGAROO_FILE_TOUCHED : BUGAROO_FILE_SINCE_BLK;
    u64 one = device ? 1ull << BUGAROO_FILE_DEV_AT : 1ull << BUGAROO_FILE_BLK_AT;
#pragma unroll 1
    for (;;) {
        now = (old & ~clears) + (old & asks ? one : 0);
        u64 seen = now == old ? old : swap_if(place, old, now);
        if (seen == old) break;
        old = seen;
    }
    check_count(dev_fences(now), STATE.dev_fence);
    check_count(blk_fences(now), STATE.blk_fence);
    if (!device) return;
    place = counts_of(number);
    old = relaxed(place);
#pragma unroll 1
    for (;;) {
        now = old >> 32 << 32 | old >> 32;
        u64 seen = now == old ? old : swap_if(place, old, now);
        if (seen == old) return;
        old = seen;
    }
}

// Lanes that are here together fence once, before any of them goes on.
__device__ __forceinline__ void count_fence(u32 number, u32 warp, bool device) {
    u32 lane, lanes = __activemask();
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    u32 wide = __ballot_sync(lanes, device);
    if (lane == __ffs(lanes & (device ? wide : ~wide)) - 1) count_one(number, warp, device);
    __syncwarp(lanes);
}

// What has happened since the access that a word tells of.
__device__ __forceinline__ u32 since_of(u64 old) {
    u32 number = get(old, STATE.block), warp = get(old, STATE.warp);
    // In this order: a device fence that comes behind a barrier is not known without the barrier, but for the warp's own.
    u64 counts = relaxed(counts_of(number));
    u64 fences = read_fences(number, warp);
    u32 barriers = (u32)(counts >> 32);
    // How many barriers ago that was, as far as the field tells.
    u32 age = cut(barriers - get(old, STATE.barrier), STATE.barrier);
    bool dev = cut(dev_fences(fences), STATE.dev_fence) != get(old, STATE.dev_fence) || age > barriers - (u32)counts;
    bool blk = cut(blk_fences(fences), STATE.blk_fence) != get(old, STATE.blk_fence);
    return (dev ? BUGAROO_SINCE_DEV : 0) | (blk ? BUGAROO_SINCE_BLK : 0) | (age ? BUGAROO_SINCE_BARRIER : 0);
}

// ---- races

struct Access {
    u64 address;
    // The word that it leaves, without flags.
    u64 who;
    u32 how;
    u32 place;
};

extern "C" __device__ __noinline__ void __bugaroo_scord_race(u64 old, u64 who, u64 address, u64 at, u32 place, u32 what) {
    bool same_block = get(old, STATE.block) == get(who, STATE.block);
    u32 apart = !same_block ? 2 : get(old, STATE.warp) != get(who, STATE.warp);
    u32 condition = what & BUGAROO_RACED_CONDITION;
    // What it says of who accessed is what a report is made of, but for who it was, and when.
    u64 said = old & (put(~0u, STATE.site) | put(~0u, STATE.wrote) | put(~0u, STATE.flags));
    u64 key = mixed(said ^ mixed((u64)place << 8 | condition << 2 | apart)) | 1;
    bool is_new;
    u64 entry = find_entry(key, is_new);
    if (!entry) {
        count(BUGAROO_CONTROL_LOST);
        return;
    }
    if (is_new) {
        store(entry + BUGAROO_RACE_OLD, old);
        store(entry + BUGAROO_RACE_ADDRESS, address);
        store(entry + BUGAROO_RACE_AT, at);
        store(entry + BUGAROO_RACE_BLOCK, linear_block());
        store32(entry + BUGAROO_RACE_PLACE, place);
        store32(entry + BUGAROO_RACE_WHAT, what);
        store32(entry + BUGAROO_RACE_THREAD, linear_thread());
        finish_entry(entry);
    }
    add(entry + BUGAROO_RACE_COUNT, 1);
}

// A word becomes that of an access. Answers which condition makes it a race, 0: none; or that the word has moved.
__device__ __forceinline__ u32 step(u64 element, const Access &access, u64 &old) {
    old = relaxed(element);
#pragma unroll 1
    for (;;) {
        if (old == STATE.moved) return BUGAROO_CONDITION_MOVED;
        Judged judged = __bugaroo_scord_judge(old, access.who, access.how, old ? since_of(old) : 0);
        u64 seen = judged.word == old ? old : swap_if(element, old, judged.word);
        if (seen == old) return judged.condition;
        old = seen;
    }
}

// All words of an access.
__device__ __forceinline__ void sweep(const Access &access, u32 bytes_log) {
    u32 size = bytes_log < BUGAROO_LARGEST ? bytes_log : BUGAROO_LARGEST;
    u64 at = access.address, end = at + (1ull << bytes_log);
    // A lane's race is told once.
    bool told = false;
#pragma unroll 1
    while (at < end) {
        u64 descriptor = find_page(at >> BUGAROO_PAGE_SHIFT);
        Words words;
        if (!descriptor || !find_words(descriptor, 1, size, words)) {
            count(BUGAROO_CONTROL_REFUSED);
            return;
        }
        // An access is aligned to its bytes, so that it is within one page.
        u64 element = words.first + ((at & ((1ull << BUGAROO_PAGE_SHIFT) - 1)) >> words.shift) * 8;
        u64 old;
        u32 condition = step(element, access, old);
        if (condition == BUGAROO_CONDITION_MOVED) continue;
        if (condition && !told) {
            told = true;
            u32 what = condition | (access.how & BUGAROO_HOW_WRITES ? BUGAROO_RACED_WRITES : 0) |
                       words.shift << BUGAROO_RACED_SHIFT_AT;
            __bugaroo_scord_race(old, access.who, access.address, at, access.place, what);
        }
        at += 1ull << words.shift;
    }
}

// An access of a lane to global memory, from the release in it to the acquire. `wrote`: it is no compare-and-swap that has failed.
extern "C" __device__ __noinline__ void __bugaroo_scord_looked(u64 address, u64 what, u32 wrote) {
    u64 block = linear_block();
    u32 thread = linear_thread(), number = number_of(block), warp = thread / 32;
    u64 state = own_state();
    u32 known = relaxed32(STATE.places + 4 * (u64)(u32)what);
    if (known & BUGAROO_PLACE_COVERED) return;
    count_access(state);
    bool swaps = what & BUGAROO_WHAT_SWAPS;
    bool device = what & BUGAROO_WHAT_DEVICE;
    if (what & BUGAROO_WHAT_RELEASE && !swaps) count_fence(number, warp, device);
    u64 fences = touch(number, warp);

    u64 table = locks_of(state, warp);
    u64 held = STATE.locks ? relaxed(table + BUGAROO_LOCKS_SUMMARY) : 0;
    u32 scope = device ? BUGAROO_LOCKS_DEVICE : 0;
    u32 opened = 0;
    if (held & BUGAROO_SUMMARY_HELD && what & BUGAROO_WHAT_OPENS && wrote) {
        opened = __bugaroo_scord_locks(table, address, BUGAROO_LOCKS_OPEN | scope);
        held = relaxed(table + BUGAROO_LOCKS_SUMMARY);
    }
    Access access;
    access.address = address;
    access.place = (u32)what;
    access.how = (u32)(what >> BUGAROO_WHAT_HOW_AT) & BUGAROO_HOW_ALL;
    // What opens a lock is an atomic, though it be written as a store, for all lanes that are here together; a compare-and-swap that
    // fails is a read.
    if (__any_sync(__activemask(), opened != 0)) access.how |= BUGAROO_HOW_ATOMIC;
    if (!wrote) access.how &= ~BUGAROO_HOW_WRITES;
    u64 counts = relaxed(counts_of(number));
    u32 site = known & BUGAROO_PLACE_SITE, most = mask_of(STATE.site);
    access.who = put(number, STATE.block) | put(warp, STATE.warp) | put((u32)(counts >> 32), STATE.barrier) |
                 put(dev_fences(fences), STATE.dev_fence) | put(blk_fences(fences), STATE.blk_fence) |
                 put(site < most ? site : most, STATE.site) | bloom_of(table, held, thread % 32);
    // Locks and fences count, whoever looks at the memory.
    u32 bytes_log = (u32)(what >> BUGAROO_WHAT_BYTES_AT) & 7;
    if (is_watched(address, 1ull << bytes_log, 0)) sweep(access, bytes_log);

    bool took = swaps && wrote && !opened;
    bool drops = !swaps && !(access.how & BUGAROO_HOW_ATOMIC);
    bool activates = what & BUGAROO_WHAT_ACQUIRE;
    if (!STATE.locks || !took && !(held & BUGAROO_SUMMARY_PENDING && (drops || activates))) return;
    __bugaroo_scord_locks(table, address,
                          scope | (took ? BUGAROO_LOCKS_TAKE : 0) | (drops ? BUGAROO_LOCKS_DROP : 0) |
                              (activates ? BUGAROO_LOCKS_ACTIVATE : 0));
}

extern "C" {

// A thread of a kernel begins.
__device__ __noinline__ void __bugaroo_scord_begin() {
    begin_thread();
}

// It ends.
__device__ __noinline__ void __bugaroo_scord_exit() {
    end_thread(own_state());
}

// A lane is about to access memory, otherwise than by a compare-and-swap.
__device__ __noinline__ void __bugaroo_scord_access(u64 address, u64 what) {
    if (where(address).is_global) __bugaroo_scord_looked(address, what, 1);
}

// A lane has compared and swapped: whether it has written.
__device__ __noinline__ void __bugaroo_scord_swapped(u64 address, u64 what, u32 wrote) {
    if (where(address).is_global) __bugaroo_scord_looked(address, what, wrote);
}

// A lane is about to compare and swap, and releases by it.
__device__ __noinline__ void __bugaroo_scord_release(u64 address, u32 device) {
    if (where(address).is_global) count_fence(number_of(linear_block()), linear_thread() / 32, device != 0);
}

// A lane is about to fence.
__device__ __noinline__ void __bugaroo_scord_fence(u32 device) {
    u32 warp = linear_thread() / 32;
    count_fence(number_of(linear_block()), warp, device != 0);
    if (!STATE.locks) return;
    u64 table = locks_of(own_state(), warp);
    if (relaxed(table + BUGAROO_LOCKS_SUMMARY) & BUGAROO_SUMMARY_PENDING)
        __bugaroo_scord_locks(table, 0, BUGAROO_LOCKS_ACTIVATE | (device ? BUGAROO_LOCKS_DEVICE : 0));
}

// It comes to a barrier of the block, and waits. Answers the barrier's phase.
__device__ __noinline__ u32 __bugaroo_scord_arrive(u32 barrier) {
    return phase_of(relaxed(barrier_of(own_state(), barrier)));
}

// It goes on behind it. The first one gives the barrier a count above that of its block; all see to it that the block has it.
__device__ __noinline__ void __bugaroo_scord_leave(u32 barrier, u32 phase) {
    u64 at = barrier_of(own_state(), barrier), counts = counts_of(number_of(linear_block()));
    u64 word = relaxed(at);
#pragma unroll 1
    while (phase_of(word) == phase) {
        u64 next = (u64)(phase + 1) << BUGAROO_BARRIER_PHASE_AT | (u32)((relaxed(counts) >> 32) + 1);
        u64 seen = swap_if(at, word, next);
        word = seen == word ? next : seen;
    }
    u32 mine = (u32)word;
    check_count(mine, STATE.barrier);
    u64 old = relaxed(counts);
#pragma unroll 1
    while ((u32)(old >> 32) < mine) {
        u64 seen = swap_if(counts, old, (u64)mine << 32 | (u32)old);
        if (seen == old) return;
        old = seen;
    }
}
}
