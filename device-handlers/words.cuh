// Words of device memory that several threads read and write: loads, stores and atomics that the compiler must not reorder, by their
// generic addresses' numbers.

#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;

__device__ __forceinline__ u32 relaxed32(u64 address) {
    u32 value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ u64 relaxed(u64 address) {
    u64 value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ u32 acquired32(u64 address) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ u64 acquired(u64 address) {
    u64 value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ void store32(u64 address, u32 value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

__device__ __forceinline__ void store(u64 address, u64 value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

__device__ __forceinline__ void release32(u64 address, u32 value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

__device__ __forceinline__ void release(u64 address, u64 value) {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

__device__ __forceinline__ u64 swap_if(u64 address, u64 old, u64 now) {
    u64 seen;
    asm volatile("atom.acq_rel.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(seen)
                 : "l"(address), "l"(old), "l"(now)
                 : "memory");
    return seen;
}

__device__ __forceinline__ u32 swap_if32(u64 address, u32 old, u32 now) {
    u32 seen;
    asm volatile("atom.acq_rel.gpu.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(seen)
                 : "l"(address), "r"(old), "r"(now)
                 : "memory");
    return seen;
}

__device__ __forceinline__ u64 add(u64 address, u64 more) {
    u64 before;
    asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(address), "l"(more) : "memory");
    return before;
}

__device__ __forceinline__ void give_way() {
    __threadfence_system();
    __nanosleep(100);
}
