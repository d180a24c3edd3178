// Kernels whose course depends on what is not known before they run, and kernels where it only seems to.

#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory")

// A branch by a parameter, around barriers of each warp by squares: with --param 1=VALUE it is known.
extern "C" __global__ void __launch_bounds__(64, 1) branch(float *out, int n) {
    __shared__ float data[64];
    data[threadIdx.x] = threadIdx.x;
    for (int i = 0; i < n; i++) {
        SYNC(1 + threadIdx.x / 32 * 7 + i * i % 7, 32);
        float x = data[threadIdx.x ^ 31];
        SYNC(1 + threadIdx.x / 32 * 7 + i * i % 7, 32);
        data[threadIdx.x] = x;
    }
    __syncthreads();
    out[threadIdx.x] = data[63 - threadIdx.x];
}

// A branch by what was loaded.
extern "C" __global__ void __launch_bounds__(64, 1) loaded(float *out, const int *flags) {
    if (flags[threadIdx.x] > 0) __syncthreads();
    out[threadIdx.x] = 1;
}

// The number of a barrier, and a count.
extern "C" __global__ void __launch_bounds__(64, 1) barrier_id(int id) { SYNC(id, 64); }
extern "C" __global__ void __launch_bounds__(64, 1) barrier_count(int count) { SYNC(1, count); }

// An address in shared memory.
extern "C" __global__ void __launch_bounds__(64, 1) address(float *out, const int *where) {
    __shared__ float data[64];
    data[where[threadIdx.x] & 63] = 1;
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
}

// A value that an atomic decides.
extern "C" __global__ void __launch_bounds__(64, 1) ticket(float *out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int mine = atomicAdd(&count, 1);
    if (mine < 32) SYNC(1, 32);
    out[threadIdx.x] = mine;
}

// Harmless: unknown data, unknown global addresses, a global store under an unknown predicate, unknown shared data.
extern "C" __global__ void __launch_bounds__(64, 1) harmless(float *out, const float *in, const int *where, float scale) {
    __shared__ float data[64];
    float x = in[where[threadIdx.x]] * scale;
    data[threadIdx.x] = x > 1 ? x : scale;
    __syncthreads();
    asm volatile("{\n .reg .pred p;\n setp.gt.f32 p, %1, 0f00000000;\n @p st.global.f32 [%0], %1;\n}" ::"l"(out + where[0]), "f"(x) : "memory");
    out[threadIdx.x] = data[63 - threadIdx.x];
}

// Known although it goes through shared memory, a shuffle and a vote: which barrier, and who takes part.
extern "C" __global__ void __launch_bounds__(64, 1) followed(float *out) {
    __shared__ int number[2];
    __shared__ float data[64];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        number[0] = 3;
        number[1] = 64;
    }
    __syncthreads();
    int id = __shfl_sync(~0u, lane == 5 ? number[0] : 0, 5);
    unsigned first = __ballot_sync(~0u, lane < 8);
    data[threadIdx.x] = lane;
    SYNC(id, number[1]);
    if (__popc(first) == 8) out[threadIdx.x] = data[63 - threadIdx.x];
    if (__any_sync(~0u, warp == 1 && lane == 31)) SYNC(4, 32);
}

// No end.
extern "C" __global__ void __launch_bounds__(64, 1) runaway() {
    __shared__ volatile int go;
    if (threadIdx.x == 0) go = 0;
    __syncthreads();
    while (!go) {
    }
}
