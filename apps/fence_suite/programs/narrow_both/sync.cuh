#pragma once

// Flags between blocks.
namespace sync_flags {

__device__ inline void raise(int *flag) {
    __threadfence_block();
    atomicExch(flag, 1);
}

__device__ inline void await(int *flag) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence_block();
}

} // namespace sync_flags
