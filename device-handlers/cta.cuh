// What a CTA holds back from the rest of the device (model store-buffer).
//
// A CTA barrier, __syncwarp() or __threadfence_block() orders a thread's stores for its own CTA alone
// (PTX ISA 8.7: synchronisation is among morally strong operations, of inclusive scopes). So a weak global store
// that was delayed until such a point need not become visible to other CTAs there: it moves into one
// of a few slots of its CTA, which every thread of the CTA looks up, and leaves for memory before the next
// fence or release of wider scope by any of these threads (they may be ordered after it: cumulativity), when
// its bytes are written or updated by one of them, or when the CTA's last thread ends. When there is no
// free slot the oldest makes room. So that a reader in another CTA who spins on a plain store ends, all
// slots drain after a bounded number of handler calls while one is held.
//
// Slots are claimed by compare and swap: zero is free, BUSY is being filled, with the top bit (weak
// entries do not have it) its store is on the way to memory. No lock is held over anything else. One word has a
// byte per slot, zero for a free one, else a hash of its address: most looks need nothing more.

#pragma once

#include "buffers.cuh"

#define LEAVING (1ull << 63)
#define BUSY (~0ull)
#define EVERY_BYTE 0x0101010101010101ull

static_assert(BUGAROO_CTA_SLOTS == 8, "a byte each in one word");

static __device__ __forceinline__ Cta *own_cta() { return __bugaroo_launch.ctas + linear_block(); }

static __device__ __forceinline__ u64 held_by(const Cta *cta) { return *(volatile const u64 *)&cta->held; }

// 1 to 255, the same for all accesses within eight aligned bytes: what can overlap has the same.
static __device__ __forceinline__ u64 hash_of(u64 address) { return ((address >> 3) * BUGAROO_GOLDEN >> 57) + 1; }

// The slots that may hold some of an access's bytes: the top bit of their bytes. (A borrow may mark the
// slot after one that matches, which costs a look.)
static __device__ __forceinline__ u64 suspects(const Cta *cta, u64 address) {
    u64 held = held_by(cta);
    if (held == 0) return 0;
    u64 differs = held ^ hash_of(address) * EVERY_BYTE;
    return (differs - EVERY_BYTE) & ~differs & EVERY_BYTE << 7;
}

// Takes the first of them out of the set.
static __device__ __forceinline__ Entry *next_of(Cta *cta, u64 &set) {
    u32 index = (u32)__ffsll((long long)set) - 1 >> 3;
    set &= set - 1;
    return &cta->slots[index];
}

// What a slot holds, also while it leaves; zero when nothing that anybody could be ordered after.
static __device__ __forceinline__ u64 look(const Entry *slot) {
    u64 found = *(volatile const u64 *)&slot->tagged;
    return found == BUSY ? 0 : found & ~LEAVING;
}

// The slot's store is in memory when this returns, whoever wrote it.
extern "C" __device__ __noinline__ void __bugaroo_leave(Cta *cta, Entry *slot, u64 tagged) {
    bool done = false;
    while (!done) {
        u64 found = atomicCAS(&slot->tagged, tagged, tagged | LEAVING);
        if (found == tagged) {
            block_fence();
            __bugaroo_write(tagged, *(volatile u64 *)&slot->value);
            thread_fence();
            u32 index = (u32)(slot - cta->slots);
            atomicAnd(&cta->held, ~(0xffull << (index * 8)));
            atomicExch(&slot->tagged, 0ull);
            done = true;
        } else if (found != (tagged | LEAVING)) {
            done = true;
        } else {
            __nanosleep(20);
        }
    }
}

extern "C" __device__ __noinline__ void __bugaroo_leave_all(Cta *cta) {
    if (held_by(cta) == 0) return;
#pragma unroll 1
    for (u32 index = 0; index < BUGAROO_CTA_SLOTS; index++) {
        u64 tagged = look(&cta->slots[index]);
        if (tagged != 0) __bugaroo_leave(cta, &cta->slots[index], tagged);
    }
    cta->clock = 0;
}

extern "C" __device__ __noinline__ void __bugaroo_leave_suspects(Cta *cta, u64 address, u32 bytes, u64 set) {
    while (set != 0) {
        Entry *slot = next_of(cta, set);
        u64 tagged = look(slot);
        if (tagged != 0 && overlaps(tagged, address, bytes)) __bugaroo_leave(cta, slot, tagged);
    }
}

static __device__ __forceinline__ void leave_overlapping(Cta *cta, u64 address, u32 bytes) {
    u64 set = suspects(cta, address);
    if (set != 0) __bugaroo_leave_suspects(cta, address, bytes, set);
}

// Counts a call while slots are held, and drains them when there were many.
static __device__ __forceinline__ void age(Cta *cta) {
    if (held_by(cta) != 0 && atomicAdd(&cta->clock, 1u) >= BUGAROO_CTA_CALLS) __bugaroo_leave_all(cta);
}

// Holds a store back for the CTA; writes it to memory when no slot is free. Every fourth time one is made
// free: what was stored last is the likeliest to matter, but a CTA that stores much shall not spend its time
// on slots.
extern "C" __device__ __noinline__ void __bugaroo_hold(Cta *cta, u64 tagged, u64 value) {
    u32 turn = atomicAdd(&cta->turn, 1u);
    u32 index = turn / 4 % BUGAROO_CTA_SLOTS;
    u64 held = held_by(cta);
    u64 unheld = (held - EVERY_BYTE) & ~held & EVERY_BYTE << 7;
    Entry *slot = &cta->slots[index];
    if (unheld != 0) {
        slot = next_of(cta, unheld);
    } else if (turn % 4 == 0) {
        u64 older = look(slot);
        if (older != 0) __bugaroo_leave(cta, slot, older);
    }
    if (atomicCAS(&slot->tagged, 0ull, BUSY) != 0) {
        __bugaroo_write(tagged, value);
        return;
    }
    *(volatile u64 *)&slot->value = value;
    atomicOr(&cta->held, hash_of(address_of(tagged)) << ((u32)(slot - cta->slots) * 8));
    block_fence();
    atomicExch(&slot->tagged, tagged);
}

// The bytes of a load, when one slot has all of them: x the value, y 1. Slots that have some of them drain.
extern "C" __device__ __noinline__ ulonglong2 __bugaroo_held(Cta *cta, u64 address, u32 width, u32 forward) {
    u64 set = suspects(cta, address);
    while (set != 0) {
        Entry *slot = next_of(cta, set);
        u64 tagged = look(slot);
        if (tagged == 0 || !overlaps(tagged, address, 1u << width)) continue;
        if (forward && covers(tagged, address, width)) {
            block_fence();
            u64 value = *(volatile u64 *)&slot->value;
            block_fence();
            // Else it has left for memory in between, and the value may be another's.
            if (look(slot) == tagged) return make_ulonglong2(value >> ((u32)(address - address_of(tagged)) * 8), 1);
        }
        __bugaroo_leave(cta, slot, tagged);
    }
    return make_ulonglong2(0, 0);
}

// ---- draining a thread's buffers under this model

// Takes all entries of one space out, newest first: they are to different bytes and nothing orders them
// yet, so any order is allowed, and the newest is the likeliest to be a flag for the others. With a CTA, the newest
// weak ones go into its slots, everything else to memory.
extern "C" __device__ __noinline__ void __bugaroo_empty(u32 thread, u32 space, Cta *cta) {
    u64 pending = __bugaroo_launch.pending[thread];
    u32 count = entries_of(pending, space);
    u64 gone = (u64)count << (space * BUGAROO_COUNT_BITS);
    note_flush(space, count);
#pragma unroll 1
    for (u32 entry = count; entry != 0; entry--) {
        Entry newest = *entry_at(thread, space, entry - 1);
        gone += is_strong(newest.tagged) << BUGAROO_STRONG_SHIFT;
        if (cta != 0 && count - entry < BUGAROO_CTA_HOLDS && !is_strong(newest.tagged)) {
            __bugaroo_hold(cta, newest.tagged, newest.value);
        } else {
            __bugaroo_write(newest.tagged, newest.value);
        }
    }
    settle(thread, pending, gone);
}

static __device__ __forceinline__ void empty_both(u32 thread, Cta *cta) {
    u64 pending = __bugaroo_launch.pending[thread];
    if (entries_of(pending, BUGAROO_SPACE_GLOBAL) != 0) __bugaroo_empty(thread, BUGAROO_SPACE_GLOBAL, cta);
    if (entries_of(pending, BUGAROO_SPACE_SHARED) != 0) __bugaroo_empty(thread, BUGAROO_SPACE_SHARED, 0);
}

// For everyone: what the CTA holds, then the thread's own.
extern "C" __device__ __noinline__ void __bugaroo_drain_for_device(u32 thread) {
    __bugaroo_leave_all(own_cta());
    empty_both(thread, 0);
}

// For the thread's CTA.
extern "C" __device__ __noinline__ void __bugaroo_drain_for_cta(u32 thread) {
    empty_both(thread, own_cta());
}
