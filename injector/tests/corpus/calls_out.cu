// Calls out of the module, and through pointers in a module that has such calls.
#include <cassert>
#include <cstdio>

__device__ __noinline__ unsigned twice(unsigned *p) { return *p = *p * 2; }
__device__ __noinline__ unsigned thrice(unsigned *p) { return *p = *p * 3; }

typedef unsigned (*Operation)(unsigned *);
__device__ Operation operations[2] = {twice, thrice};

extern "C" __global__ void pointers(unsigned *data) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = i + 1;
    operations[i & 1](data + i);
}

extern "C" __global__ void leaves(unsigned *data) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = i;
    assert(data[i] == i);
    printf("%u %u\n", i, data[i]);
    data[i] += 1;
}
