// ScoRD's rules: preliminary checks (table III of the paper), conditions (table IV), and what becomes of a word. The same as
// detectors/src/scord/check.rs and metadata.rs, which say why.

#pragma once

#include "words.cuh"

// A field is given as where it begins, and its bits from the ninth on.
__device__ __forceinline__ u32 mask_of(u32 field) {
    return (u32)((1ull << (field >> 8)) - 1);
}

__device__ __forceinline__ u32 get(u64 word, u32 field) {
    return (u32)(word >> (field & 63)) & mask_of(field);
}

__device__ __forceinline__ u64 put(u32 value, u32 field) {
    return (u64)(value & mask_of(field)) << (field & 63);
}

struct __align__(16) Judged {
    // What the word becomes.
    u64 word;
    // Which condition makes it a race; 0: none.
    u64 condition;
};

// What is known of the last modification: the numbers of `Written`, and the flags that say it.
#define WRITTEN_NO 0
#define WRITTEN_LAST BUGAROO_MODIFIED
#define WRITTEN_IN_BLOCK (BUGAROO_MODIFIED | BUGAROO_ORDERED)
#define WRITTEN_BY_FENCE BUGAROO_ORDERED

// Whether two summaries have a lock in common, or so it seems.
__device__ __forceinline__ bool common(u32 one, u32 other) {
    u32 both = one & other;
    u32 half = (one | other) >> 8 ? 8 : 4;
    return (both & ((1u << half) - 1)) != 0 && both >> half != 0;
}

// The condition that holds where neither the preliminary checks nor the scopes of atomics settle it; 0: none.
__device__ __forceinline__ u32 fences_and_locks(u64 old, u64 who, u32 flags, u32 how, u32 since, bool own, bool same_block) {
    u32 written = flags & WRITTEN_IN_BLOCK;
    bool writes = how & BUGAROO_HOW_WRITES, dev = since & BUGAROO_SINCE_DEV, blk = since & BUGAROO_SINCE_BLK;
    if (!own && same_block && (writes || written == WRITTEN_LAST) && !blk && !dev) return BUGAROO_CONDITION_BLOCK_FENCE;
    if (!same_block && (writes || written == WRITTEN_LAST || written == WRITTEN_IN_BLOCK) && !dev)
        return BUGAROO_CONDITION_DEVICE_FENCE;
    bool behind_write = written == WRITTEN_IN_BLOCK ? !same_block : written != WRITTEN_NO;
    if (!writes && !behind_write) return 0;
    u32 bloom = get(old, STATE.bloom), mine = get(who, STATE.bloom);
    if ((bloom | mine) != 0 && !(how & BUGAROO_HOW_ATOMIC) && !common(bloom, mine))
        return writes ? BUGAROO_CONDITION_LOCK_ON_STORE : BUGAROO_CONDITION_LOCK_ON_LOAD;
    bool strong = flags & BUGAROO_STRONG && how & BUGAROO_HOW_STRONG;
    return !own && !strong ? BUGAROO_CONDITION_NOT_STRONG : 0;
}

// What becomes of a word by an access. `who`: the word that it leaves, without flags.
extern "C" __device__ __noinline__ Judged __bugaroo_scord_judge(u64 old, u64 who, u32 how, u32 since) {
    // The flags that say together that nobody has accessed it are stored inverted.
    u32 flags = get(old, STATE.flags) ^ BUGAROO_FIRST;
    bool writes = how & BUGAROO_HOW_WRITES, atomic = how & BUGAROO_HOW_ATOMIC;
    bool dev = since & BUGAROO_SINCE_DEV, blk = since & BUGAROO_SINCE_BLK;
    bool same_block = get(old, STATE.block) == get(who, STATE.block);
    bool own = same_block && get(old, STATE.warp) == get(who, STATE.warp);
    u32 written = flags & WRITTEN_IN_BLOCK;
    u32 shared = flags & (BUGAROO_BLK_SHARED | BUGAROO_DEV_SHARED);
    u32 made = how & BUGAROO_HOW_STRONG ? BUGAROO_STRONG : 0;
    if (atomic) made |= how & BUGAROO_HOW_DEVICE ? BUGAROO_IS_ATOM | BUGAROO_DEVICE_SCOPE : BUGAROO_IS_ATOM;

    bool first = (flags & BUGAROO_FIRST) == BUGAROO_FIRST;
    bool barrier = !first && same_block && since & BUGAROO_SINCE_BARRIER && !(flags & BUGAROO_DEV_SHARED);
    u32 condition = 0;
    if (!first && !barrier && !(own && !shared)) {
        bool settled = false;
        if (flags & BUGAROO_IS_ATOM) {
            bool wide = flags & BUGAROO_DEVICE_SCOPE && (how & BUGAROO_HOW_DEVICE || !atomic || dev);
            if (!same_block && !wide && (writes || written != WRITTEN_NO)) condition = BUGAROO_CONDITION_ATOMIC_SCOPE;
            settled = condition || atomic;
        }
        if (!settled) condition = fences_and_locks(old, who, flags, how, since, own, same_block);
    }

    // Whether a modification is left that others made, and whether the word goes on naming its instruction for its own warp.
    bool leaves = false, names_write = false;
    if (first || condition) {
        // One race does not breed others.
        made |= writes ? WRITTEN_LAST : WRITTEN_NO;
    } else if (barrier) {
        u32 left = writes ? WRITTEN_LAST : written == WRITTEN_NO || dev ? WRITTEN_NO : WRITTEN_IN_BLOCK;
        made |= left;
        leaves = !writes && left != WRITTEN_NO;
    } else {
        if (!(flags & BUGAROO_STRONG)) made &= ~BUGAROO_STRONG;
        if (writes) {
            made |= BUGAROO_MODIFIED;
        } else {
            // A read in order leaves what there was.
            u32 left = WRITTEN_NO;
            if (written == WRITTEN_LAST)
                left = dev ? (own ? WRITTEN_BY_FENCE : WRITTEN_NO) : blk && same_block ? WRITTEN_IN_BLOCK : WRITTEN_LAST;
            if (written == WRITTEN_IN_BLOCK) left = dev ? WRITTEN_NO : same_block ? WRITTEN_IN_BLOCK : WRITTEN_LAST;
            if (written == WRITTEN_BY_FENCE) left = own ? WRITTEN_BY_FENCE : WRITTEN_NO;
            made |= left;
            if (flags & BUGAROO_DEV_SHARED || !same_block)
                made |= BUGAROO_DEV_SHARED;
            else if (flags & BUGAROO_BLK_SHARED || !own)
                made |= BUGAROO_BLK_SHARED;
            leaves = left != WRITTEN_NO;
            names_write = leaves && own;
        }
    }
    Judged judged;
    judged.word = who | put(made ^ BUGAROO_FIRST, STATE.flags);
    u64 site = put(~0u, STATE.site), wrote = put(~0u, STATE.wrote);
    if (leaves) judged.word |= old & wrote;
    else judged.word |= writes ? put(get(who, STATE.site), STATE.wrote) : wrote;
    // Who is to be named is the write: where there is room for one instruction, in place of the last access.
    if (names_write && !wrote) judged.word = (judged.word & ~site) | (old & site);
    judged.condition = condition;
    return judged;
}
