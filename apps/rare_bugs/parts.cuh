// What the kernels of `kernel.cu`, `further.cu` and `last.cu` share. Each block has one thread and plays a part. `memory` is all zero at first
// but where the host says otherwise; `wrong` becomes 1 where a part sees what must not be.

#pragma once

typedef unsigned Word;

// Strong accesses: what threads of other blocks read and write while this one runs.
__device__ __forceinline__ Word look(const Word *at) { return *(const volatile Word *)at; }
__device__ __forceinline__ void put(Word *at, Word value) { *(volatile Word *)at = value; }

// Reads what is there now: an atomic never reads an older value.
__device__ __forceinline__ Word now(Word *at) { return atomicAdd(at, 0); }

template <bool kThere>
__device__ __forceinline__ void fence_if() {
    if constexpr (kThere) __threadfence();
}

// Something else to do, for so many accesses.
__device__ __forceinline__ void work(const Word *own, int accesses) {
    for (int i = 0; i < accesses; i++) look(own);
}

// A kernel with its bug, and the same without.
#define BUG(name)                                                                                                  \
    extern "C" __global__ void name(Word *memory, Word *wrong) { name##_of<false>(memory, wrong); }                \
    extern "C" __global__ void name##_fixed(Word *memory, Word *wrong) { name##_of<true>(memory, wrong); }
