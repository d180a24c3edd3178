// The locks that the lanes of a warp hold (section IV-A of ScoRD's paper). The same as detectors/src/scord/locks.rs and held.rs, which say
// why: the table of whoever takes locks is the whole warp's while no other lane takes any, and each lane's own from then on, until nobody
// holds any.

#pragma once

#include "words.cuh"

__device__ __forceinline__ u64 table_of(u64 locks, u32 lane) {
    return locks + BUGAROO_LOCKS_TABLES + BUGAROO_TABLE_BYTES * (u64)lane;
}

// The summary of a table's active locks.
__device__ __forceinline__ u32 bloom_of_table(u64 table, u32 block) {
    u32 bits = STATE.bloom >> 8;
    if (bits == 0) return 0;
    u32 half = bits / 2, part = __ffs(bits) - 2, bloom = 0;
#pragma unroll 1
    for (u32 at = 0; at < BUGAROO_LOCK_COUNT; at++) {
        u64 entry = relaxed(table + 8 * at);
        if (!(entry & BUGAROO_LOCK_ACTIVE)) continue;
        u32 hash = (u32)((((entry >> BUGAROO_LOCK_ADDRESS_AT) >> 2) * BUGAROO_GOLDEN) >> 58);
        u32 high = hash >> part;
        bloom |= 1u << (hash & (half - 1));
        bloom |= 1u << (half + ((high + 1 + block % (half - 1)) & (half - 1)));
        if (entry & BUGAROO_LOCK_DEVICE) bloom |= 1u << (half + (high & (half - 1)));
    }
    return bloom;
}

// A table has changed: what is said of it, and whether it is empty or has locks that are not active yet.
__device__ __forceinline__ void changed(u64 locks, u32 lane, u32 block) {
    u64 table = table_of(locks, lane);
    u32 held = relaxed32(locks + BUGAROO_LOCKS_HOLDERS), pending = relaxed32(locks + BUGAROO_LOCKS_PENDING);
    held &= ~(1u << lane);
    pending &= ~(1u << lane);
#pragma unroll 1
    for (u32 at = 0; at < BUGAROO_LOCK_COUNT; at++) {
        u64 entry = relaxed(table + 8 * at);
        if (entry != 0) held |= 1u << lane;
        if (entry != 0 && !(entry & BUGAROO_LOCK_ACTIVE)) pending |= 1u << lane;
    }
    store32(locks + BUGAROO_LOCKS_HOLDERS, held);
    store32(locks + BUGAROO_LOCKS_PENDING, pending);
    store32(locks + BUGAROO_LOCKS_BLOOMS + 4 * lane, bloom_of_table(table, block));
}

// Opens a lock, by so wide a scope; false where the table does not have it.
__device__ __forceinline__ bool open(u64 table, u64 lock, bool device) {
#pragma unroll 1
    for (u32 at = 0; at < BUGAROO_LOCK_COUNT; at++) {
        u64 entry = relaxed(table + 8 * at);
        if (entry != 0 && entry >> BUGAROO_LOCK_ADDRESS_AT == lock && (device || !(entry & BUGAROO_LOCK_DEVICE))) {
            store(table + 8 * at, 0);
            return true;
        }
    }
    return false;
}

// In the word of the next place: a lock that no fence had made active has gone for another one.
#define HAS_LOST 0x100u

// Puts a lock into a table: into the next place in the circle that is free, or else has a lock that is not active, or else the next one.
__device__ __forceinline__ void take(u64 table, u64 lock, bool device) {
    u32 word = (u32)relaxed(table + BUGAROO_TABLE_NEXT), next = word % BUGAROO_LOCK_COUNT;
    u32 free = BUGAROO_LOCK_COUNT, pending = BUGAROO_LOCK_COUNT;
#pragma unroll 1
    for (u32 more = BUGAROO_LOCK_COUNT; more-- > 0;) {
        u32 at = (next + more) % BUGAROO_LOCK_COUNT;
        u64 entry = relaxed(table + 8 * at);
        if (entry == 0) free = at;
        if (!(entry & BUGAROO_LOCK_ACTIVE)) pending = at;
    }
    u32 lost = word & HAS_LOST, index = free;
    if (free == BUGAROO_LOCK_COUNT) {
        index = pending;
        if (pending == BUGAROO_LOCK_COUNT) {
            index = next;
            store(STATE.control + BUGAROO_CONTROL_FULL, 1);
        } else
            lost = HAS_LOST;
    }
    store(table + 8 * index,
          lock << BUGAROO_LOCK_ADDRESS_AT | BUGAROO_LOCK_VALID | (device ? BUGAROO_LOCK_DEVICE : 0));
    store(table + BUGAROO_TABLE_NEXT, (index + 1) % BUGAROO_LOCK_COUNT | lost);
}

// Locks without a fence are none; or a fence makes those of its scope active.
__device__ __forceinline__ void settle(u64 table, bool drops, bool activates, bool device) {
    u32 word = (u32)relaxed(table + BUGAROO_TABLE_NEXT);
    if (word & HAS_LOST && (drops || activates)) {
        if (activates) store(STATE.control + BUGAROO_CONTROL_FULL, 1);
        store(table + BUGAROO_TABLE_NEXT, word & ~HAS_LOST);
    }
#pragma unroll 1
    for (u32 at = 0; at < BUGAROO_LOCK_COUNT; at++) {
        u64 entry = relaxed(table + 8 * at);
        if (entry == 0 || entry & BUGAROO_LOCK_ACTIVE) continue;
        if (drops)
            store(table + 8 * at, 0);
        else if (activates && (device || !(entry & BUGAROO_LOCK_DEVICE)))
            store(table + 8 * at, entry | BUGAROO_LOCK_ACTIVE);
    }
}

// What a lane does to its warp's locks, which nobody else works on. Answers whether it has opened one.
__device__ __forceinline__ u32 change(u64 locks, u64 lock, u32 lane, u32 does) {
    u32 block = (u32)linear_block() & mask_of(STATE.block);
    bool device = does & BUGAROO_LOCKS_DEVICE;
    u32 owner = relaxed32(locks + BUGAROO_LOCKS_OWNER);
    bool by_lane = owner & BUGAROO_OWNER_BY_LANE;
    owner &= 31;
    u32 opened = 0;
    if (does & BUGAROO_LOCKS_OPEN) {
        // A lane may unlock for another one.
        u32 at = by_lane ? lane : owner;
        opened = open(table_of(locks, at), lock, device);
        if (!opened && by_lane) {
#pragma unroll 1
            for (at = 0; at < 32 && !opened; at++) opened = open(table_of(locks, at), lock, device);
            at -= opened;
        }
        if (opened) changed(locks, at, block);
    }
    if (does & BUGAROO_LOCKS_TAKE) {
        u32 holders = relaxed32(locks + BUGAROO_LOCKS_HOLDERS);
        if (!by_lane && (holders == 0 || owner == lane))
            owner = lane;
        else
            by_lane = true;
        take(table_of(locks, lane), lock, device);
        changed(locks, lane, block);
    }
    if (does & (BUGAROO_LOCKS_DROP | BUGAROO_LOCKS_ACTIVATE)) {
        u32 at = by_lane ? lane : owner;
        settle(table_of(locks, at), does & BUGAROO_LOCKS_DROP && at == lane, does & BUGAROO_LOCKS_ACTIVATE, device);
        changed(locks, at, block);
    }
    u32 holders = relaxed32(locks + BUGAROO_LOCKS_HOLDERS);
    by_lane = by_lane && holders != 0;
    u64 summary = relaxed32(locks + BUGAROO_LOCKS_BLOOMS + 4 * owner);
    if (by_lane) summary = BUGAROO_SUMMARY_BY_LANE;
    if (holders) summary |= BUGAROO_SUMMARY_HELD;
    if (relaxed32(locks + BUGAROO_LOCKS_PENDING)) summary |= BUGAROO_SUMMARY_PENDING;
    store32(locks + BUGAROO_LOCKS_OWNER, owner | (by_lane ? BUGAROO_OWNER_BY_LANE : 0));
    store(locks + BUGAROO_LOCKS_SUMMARY, summary);
    return opened;
}

// As `change`, one lane after the other.
extern "C" __device__ __noinline__ u32 __bugaroo_scord_locks(u64 locks, u64 lock, u32 does) {
    u32 lane, opened = 0;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
#pragma unroll 1
    for (u32 left = __activemask(); left; left &= left - 1) {
        if (lane != __ffs(left) - 1) continue;
#pragma unroll 1
        while (swap_if32(locks + BUGAROO_LOCKS_BUSY, 0, 1) != 0) give_way();
        opened = change(locks, lock, lane, does);
        release32(locks + BUGAROO_LOCKS_BUSY, 0);
    }
    return opened;
}

// The summary of what a lane holds, in its place in the word.
__device__ __forceinline__ u64 bloom_of(u64 locks, u64 summary, u32 lane) {
    u32 bloom = (u32)summary & 0xffff;
    if (summary & BUGAROO_SUMMARY_BY_LANE) bloom = relaxed32(locks + BUGAROO_LOCKS_BLOOMS + 4 * lane);
    return put(bloom, STATE.bloom);
}
