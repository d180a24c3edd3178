// What a CTA holds back from the rest of the device (model store-buffer).
//
// A CTA barrier, __syncwarp() or __threadfence_block() orders a thread's stores for its own CTA alone
// (PTX ISA 8.7: synchronisation is among morally strong operations, of inclusive scopes). So a weak global store
// that was delayed until such a point need not become visible to other CTAs there: it moves into one
// of a few slots of its CTA, which every thread of the CTA looks up, and leaves for memory before the next
// fence or release of wider scope by any of these threads (they may be ordered after it: cumulativity), when
// its bytes are written or updated by one of them, or when the CTA's last thread ends. Which stores are held
// when there is no free slot, a coin says. So that a reader in another CTA who spins on a plain store ends, all
// slots drain after a bounded number of handler calls while one is held.
//
// Slots are claimed by compare and swap: zero is free, BUSY is being filled, with the top bit (weak
// entries do not have it) its store is on the way to memory. No lock is held over anything else. Eight slots share a word of
// marks with a byte for each, zero for a free one, else a hash of its address: most looks need nothing more.

#pragma once

#include "buffers.cuh"

#define LEAVING (1ull << 63)
#define BUSY (~0ull)
#define EVERY_BYTE 0x0101010101010101ull

#define GROUPS (BUGAROO_CTA_SLOTS / 8)
static_assert(BUGAROO_CTA_SLOTS % 8 == 0, "a byte each in words of eight");

static __device__ __forceinline__ Cta *own_cta() { return __bugaroo_launch.ctas + linear_block(); }

// How many slots are held, or on the way to it.
static __device__ __forceinline__ u64 held_by(const Cta *cta) { return *(volatile const u64 *)&cta->held; }

static __device__ __forceinline__ u64 marks_of(const Cta *cta, u32 group) {
    return *(volatile const u64 *)&cta->marks[group];
}

// 1 to 255, the same for all accesses within eight aligned bytes: what can overlap has the same.
static __device__ __forceinline__ u64 hash_of(u64 address) { return ((address >> 3) * BUGAROO_GOLDEN >> 57) + 1; }

// The slots of a group that may hold some of an access's bytes: the top bit of their bytes. (A borrow may mark the
// slot after one that matches, which costs a look.)
static __device__ __forceinline__ u64 suspects(const Cta *cta, u32 group, u64 address) {
    u64 marks = marks_of(cta, group);
    if (marks == 0) return 0;
    u64 differs = marks ^ hash_of(address) * EVERY_BYTE;
    return (differs - EVERY_BYTE) & ~differs & EVERY_BYTE << 7;
}

// Takes the first of them out of the set.
static __device__ __forceinline__ Entry *next_of(Cta *cta, u32 group, u64 &set) {
    u32 index = (u32)__ffsll((long long)set) - 1 >> 3;
    set &= set - 1;
    return &cta->slots[group * 8 + index];
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
            atomicAnd(&cta->marks[index / 8], ~(0xffull << (index % 8 * 8)));
            atomicAdd(&cta->held, ~0ull);
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

extern "C" __device__ __noinline__ void __bugaroo_leave_suspects(Cta *cta, u64 address, u32 bytes) {
#pragma unroll 1
    for (u32 group = 0; group < GROUPS; group++) {
        u64 set = suspects(cta, group, address);
        while (set != 0) {
            Entry *slot = next_of(cta, group, set);
            u64 tagged = look(slot);
            if (tagged != 0 && overlaps(tagged, address, bytes)) __bugaroo_leave(cta, slot, tagged);
        }
    }
}

static __device__ __forceinline__ void leave_overlapping(Cta *cta, u64 address, u32 bytes) {
    if (held_by(cta) != 0) __bugaroo_leave_suspects(cta, address, bytes);
}

// Counts a call while slots are held, and drains them when there were many.
static __device__ __forceinline__ void age(Cta *cta) {
    if (held_by(cta) != 0 && atomicAdd(&cta->clock, 1u) >= BUGAROO_CTA_CALLS) __bugaroo_leave_all(cta);
}

// 32 bits that nothing else is decided by: a hash of the launch's key, the CTA, and how many came before.
static __device__ __forceinline__ u32 draw(Cta *cta) {
    u32 turn = atomicAdd(&cta->turn, 1u);
    return (u32)(mix(__bugaroo_launch.key ^ mix((u64)linear_block() << 32 | turn)) >> 32);
}

// Holds a store back for the CTA, of whose thread so many went before it in the same drain; or writes it to memory. When
// no slot is free, one is made free with such a chance that of one thread's stores each is as likely to be held
// in the end (Vitter, "Random sampling with a reservoir", 1985, algorithm R); where the slots were full when it
// began, one time in four: what was stored last is the likeliest to matter, but a CTA that stores much shall not
// spend its time on slots.
extern "C" __device__ __noinline__ void __bugaroo_hold(Cta *cta, u64 tagged, u64 value, u32 before) {
    u32 index = BUGAROO_CTA_SLOTS;
#pragma unroll 1
    for (u32 group = 0; group < GROUPS && index == BUGAROO_CTA_SLOTS; group++) {
        u64 marks = marks_of(cta, group);
        u64 unheld = (marks - EVERY_BYTE) & ~marks & EVERY_BYTE << 7;
        if (unheld != 0) index = group * 8 + ((u32)__ffsll((long long)unheld) - 1 >> 3);
    }
    if (index == BUGAROO_CTA_SLOTS) {
        u32 of = before < BUGAROO_CTA_SLOTS ? 4 * BUGAROO_CTA_SLOTS : before + 1;
        index = __umulhi(draw(cta), of);
        u64 older = index < BUGAROO_CTA_SLOTS ? look(&cta->slots[index]) : 0;
        if (older != 0) __bugaroo_leave(cta, &cta->slots[index], older);
    }
    if (index >= BUGAROO_CTA_SLOTS || atomicCAS(&cta->slots[index].tagged, 0ull, BUSY) != 0) {
        __bugaroo_write(tagged, value);
        return;
    }
    Entry *slot = &cta->slots[index];
    *(volatile u64 *)&slot->value = value;
    atomicOr(&cta->marks[index / 8], hash_of(address_of(tagged)) << (index % 8 * 8));
    atomicAdd(&cta->held, 1ull);
    block_fence();
    atomicExch(&slot->tagged, tagged);
}

// The bytes of a load, when one slot has all of them: x the value, y 1. Slots that have some of them drain.
extern "C" __device__ __noinline__ ulonglong2 __bugaroo_held(Cta *cta, u64 address, u32 width, u32 forward) {
#pragma unroll 1
    for (u32 group = 0; group < GROUPS; group++) {
        u64 set = suspects(cta, group, address);
        while (set != 0) {
            Entry *slot = next_of(cta, group, set);
            u64 tagged = look(slot);
            if (tagged == 0 || !overlaps(tagged, address, 1u << width)) continue;
            if (forward && covers(tagged, address, width)) {
                block_fence();
                u64 value = *(volatile u64 *)&slot->value;
                block_fence();
                // Else it has left for memory in between, and the value may be another's.
                if (look(slot) == tagged) {
                    return make_ulonglong2(value >> ((u32)(address - address_of(tagged)) * 8), 1);
                }
            }
            __bugaroo_leave(cta, slot, tagged);
        }
    }
    return make_ulonglong2(0, 0);
}

// ---- draining a thread's buffers under this model

// Takes all entries of one space out, newest first: they are to different bytes and nothing orders them
// yet, so any order is allowed, and the newest is the likeliest to be a flag for the others. With a CTA, some go
// into its slots, everything else to memory: at a barrier the newest weak ones, at a fence what the slots can hold of
// weak ones, whatever their age, or it would hardly show where many stores stand before it that its scope is too narrow.
extern "C" __device__ __noinline__ void __bugaroo_empty(u32 thread, u32 space, Cta *cta, u32 event) {
    u64 pending = __bugaroo_launch.pending[thread];
    u32 count = entries_of(pending, space);
    u64 gone = (u64)count << (space * BUGAROO_COUNT_BITS);
    note_flush(space, count);
#pragma unroll 1
    for (u32 entry = count; entry != 0; entry--) {
        Entry newest = *entry_at(thread, space, entry - 1);
        gone += is_strong(newest.tagged) << BUGAROO_STRONG_SHIFT;
        bool any = event == BUGAROO_EVENT_CTA_FENCE || count - entry < BUGAROO_CTA_HOLDS;
        if (cta != 0 && any && !is_strong(newest.tagged)) __bugaroo_hold(cta, newest.tagged, newest.value, count - entry);
        else __bugaroo_write(newest.tagged, newest.value);
    }
    settle(thread, pending, gone);
}

static __device__ __forceinline__ void empty_both(u32 thread, Cta *cta, u32 event) {
    u64 pending = __bugaroo_launch.pending[thread];
    if (entries_of(pending, BUGAROO_SPACE_GLOBAL) != 0) __bugaroo_empty(thread, BUGAROO_SPACE_GLOBAL, cta, event);
    if (entries_of(pending, BUGAROO_SPACE_SHARED) != 0) __bugaroo_empty(thread, BUGAROO_SPACE_SHARED, 0, event);
}

// For everyone: what the CTA holds, then the thread's own.
extern "C" __device__ __noinline__ void __bugaroo_drain_for_device(u32 thread) {
    __bugaroo_leave_all(own_cta());
    empty_both(thread, 0, BUGAROO_EVENT_EXIT);
}

// For the thread's CTA, at a fence or a barrier.
extern "C" __device__ __noinline__ void __bugaroo_drain_for_cta(u32 thread, u32 event) {
    age(own_cta());
    empty_both(thread, own_cta(), event);
}
