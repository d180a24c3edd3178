// Blocks of a launch, and the slots that those have which are resident. A kit says before it includes this: STATE, its launch's state, and
// make_block, which makes the state of a block that begins in a slot.

#pragma once

#include "words.cuh"

__device__ __forceinline__ u64 linear_block() {
    return ((u64)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

__device__ __forceinline__ u32 linear_thread() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u32 threads_of_block() {
    return blockDim.x * blockDim.y * blockDim.z;
}

__device__ __forceinline__ u64 slot_of(u64 block) {
    return STATE.slots + 4 * block;
}

__device__ __forceinline__ u64 state_of(u32 slot) {
    return STATE.blocks + (u64)slot * STATE.block_bytes;
}

// The state of the thread's own block, which has begun.
__device__ __forceinline__ u64 own_state() {
    return state_of(relaxed32(slot_of(linear_block())) - BUGAROO_FIRST_SLOT);
}

// A thread of a kernel begins. Answers the state of its block.
__device__ __forceinline__ u64 begin_thread() {
    u64 block = linear_block();
    u64 own = slot_of(block);
    u32 slot = acquired32(own);
    if (slot == 0) slot = swap_if32(own, 0, 1);
    if (slot == 0) {
        // A block that is resident has room: as many slots as there can be, and who ends gives the slot back before.
        u32 at = (u32)(block % STATE.ctas);
#pragma unroll 1
        while (swap_if32(state_of(at) + BUGAROO_BLOCK_TAKEN, 0, 1) != 0) {
            at = at + 1 == STATE.ctas ? 0 : at + 1;
            give_way();
        }
        u32 threads = threads_of_block();
        u64 state = state_of(at);
        store32(state + BUGAROO_BLOCK_THREADS, threads);
#pragma unroll 1
        for (u32 barrier = 0; barrier < BUGAROO_BARRIER_COUNT; barrier++)
            store(state + BUGAROO_BLOCK_BARRIERS + 8 * barrier, 0);
        make_block(state, threads);
        slot = at + BUGAROO_FIRST_SLOT;
        release32(own, slot);
    }
#pragma unroll 1
    while (slot < BUGAROO_FIRST_SLOT) {
        give_way();
        slot = acquired32(own);
    }
    return state_of(slot - BUGAROO_FIRST_SLOT);
}

// It ends. The last one gives the slot back.
__device__ __forceinline__ void end_thread(u64 state) {
    u32 left;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(left)
                 : "l"(state + BUGAROO_BLOCK_THREADS), "r"(~0u)
                 : "memory");
    if (left == 1) release32(state + BUGAROO_BLOCK_TAKEN, 0);
}

__device__ __forceinline__ u64 barrier_of(u64 state, u32 barrier) {
    return state + BUGAROO_BLOCK_BARRIERS + 8 * (barrier % BUGAROO_BARRIER_COUNT);
}

// Where an access goes.
struct Where {
    bool is_shared, is_global;
    // The offset in shared memory, or the address.
    u64 at;
};

__device__ __forceinline__ Where where(u64 address) {
    u32 is_shared, is_local;
    u64 offset;
    asm("{\n\t.reg .pred p;\n\tisspacep.shared p, %3;\n\tselp.u32 %0, 1, 0, p;\n\tisspacep.local p, %3;\n\t"
        "selp.u32 %1, 1, 0, p;\n\tcvta.to.shared.u64 %2, %3;\n\t}"
        : "=r"(is_shared), "=r"(is_local), "=l"(offset)
        : "l"(address));
    Where where;
    where.is_shared = is_shared;
    where.is_global = !is_shared && !is_local && address >= STATE.global_from;
    where.at = is_shared ? offset : address;
    return where;
}

// Counts an access of the lanes that are here together.
__device__ __forceinline__ void count_access(u64 state) {
    u32 lane, lanes = __activemask();
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (lane == __ffs(lanes) - 1) add(state + BUGAROO_BLOCK_ACCESSES, 1);
}
