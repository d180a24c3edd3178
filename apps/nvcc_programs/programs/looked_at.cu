// nvcc program: -arch=sm_75 -lineinfo
// Kernels for race detectors: which ends of a race a detector of one word has kept, and what its device code knows.
//
//     looked_at KERNEL…    launches these, each in its turn

#include "check.h"

#include <cstdlib>
#include <cstring>

__device__ int data[64], flag, out[64];

// Block 0 writes, meets, and another warp of it reads. Block 1 reads behind a flag that orders nothing.
__global__ void behind_barrier() {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) data[0] = 1;
        __syncthreads();
        if (threadIdx.x == 32) {
            out[0] = data[0];
            atomicExch(&flag, 1);
        }
    } else if (threadIdx.x == 0) {
        while (atomicAdd(&flag, 0) == 0) {
        }
        out[1] = data[0];
    }
}

// Block 1 reads, then block 0 reads and writes.
__global__ void reads_then_writes() {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 1) {
        out[0] = data[1];
        atomicExch(&flag, 1);
    } else {
        while (atomicAdd(&flag, 0) == 0) {
        }
        int value = data[1];
        if (value < 100) data[1] = value + 1;
    }
}

// Nobody races.
__global__ void orderly() {
    data[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = data[63 - threadIdx.x];
}

// Takes memory of the device's heap, by way of a function.
__device__ __noinline__ int *take() {
    return static_cast<int *>(malloc(4));
}

__global__ void allocates() {
    int *taken = take();
    if (taken) *taken = threadIdx.x;
}

// The first two of three warps meet.
__global__ void pair() {
    if (threadIdx.x < 64) {
        out[threadIdx.x] = 1;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        data[63 - threadIdx.x] = out[63 - threadIdx.x];
    }
}

// All of the block meet, and say how many these are.
__global__ void counted() {
    data[threadIdx.x] = 1;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = data[63 - threadIdx.x];
}

int main(int count, char **names) {
    const int none = 0;
    for (int at = 1; at < count; at++) {
        CHECK(cudaMemcpyToSymbol(flag, &none, sizeof none));
        auto is = [&](const char *name) { return strcmp(names[at], name) == 0; };
        if (is("behind_barrier")) behind_barrier<<<2, 64>>>();
        if (is("reads_then_writes")) reads_then_writes<<<2, 32>>>();
        if (is("orderly")) orderly<<<1, 64>>>();
        if (is("allocates")) allocates<<<1, 32>>>();
        if (is("pair")) pair<<<1, 96>>>();
        if (is("counted")) counted<<<1, 64>>>();
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    return 0;
}
