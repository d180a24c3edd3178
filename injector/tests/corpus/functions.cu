// Device functions: called by diverged lanes, through pointers, recursively.

__device__ __noinline__ void put(unsigned *out, unsigned value) {
    if (value & 1) out[0] = value;
    else out[1] = value;
}

__device__ __noinline__ unsigned depth(unsigned *trail, unsigned n) {
    trail[n] = n;
    return n == 0 ? 0 : depth(trail, n - 1) + trail[n];
}

__device__ __noinline__ unsigned twice(unsigned *p) { return *p = *p * 2; }
__device__ __noinline__ unsigned thrice(unsigned *p) { return *p = *p * 3; }

typedef unsigned (*Operation)(unsigned *);
__device__ Operation operations[2] = {twice, thrice};

extern "C" __global__ void diverged(unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 3 == 0) put(out + 2 * i, i);
    else if (threadIdx.x % 3 == 1) put(out + 2 * i, i + 1);
}

extern "C" __global__ void recursive(unsigned *trails, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = depth(trails + 16 * i, threadIdx.x & 15);
}

extern "C" __global__ void pointers(unsigned *data) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = i + 1;
    operations[i & 1](data + i);
}
