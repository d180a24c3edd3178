// nvcc: -ptx -lineinfo -arch=compute_80
// Where the released WEFT says nothing, or nothing right: races after the last barrier and without any, the other spellings of barriers,
// vectors, atomics, asynchronous copies.

// Nothing orders the accesses.
extern "C" __global__ void __launch_bounds__(64, 1) no_barrier(float *out) {
    __shared__ float data[64];
    data[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = data[63 - threadIdx.x];
}

// The race comes behind the last barrier.
extern "C" __global__ void __launch_bounds__(64, 1) after_last(float *out) {
    __shared__ float data[64];
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float x = data[63 - threadIdx.x];
    data[threadIdx.x] = x;
    out[threadIdx.x] = x;
}

// Bytes 12 to 15 of each vector, and nothing else, are read by the neighbour too early.
extern "C" __global__ void __launch_bounds__(32, 1) vectors(float4 *out) {
    __shared__ float4 data[32];
    __shared__ float scratch[33];
    data[threadIdx.x] = make_float4(1, 2, 3, 4);
    scratch[threadIdx.x] = 0;
    float early = reinterpret_cast<float *>(data)[4 * (threadIdx.x ^ 1) + 3];
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x ^ 1];
    out[threadIdx.x + 32].x = early;
}
extern "C" __global__ void __launch_bounds__(32, 1) vectors_right(float4 *out) {
    __shared__ float4 data[32];
    data[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x ^ 1];
}

// Everybody writes the same known value: a race, but a benign one.
extern "C" __global__ void __launch_bounds__(64, 1) same_value(int *out) {
    __shared__ int flag;
    unsigned to = (unsigned)__cvta_generic_to_shared(&flag);
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(7) : "memory");
    __syncthreads();
    out[threadIdx.x] = flag;
}

// Atomics do not race with each other, but with what is none.
extern "C" __global__ void __launch_bounds__(64, 1) atomics(int *out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x & 7], 1);
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(64, 1) atomics_wrong(int *out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x & 7], 1);
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}

// barrier.sync, barrier.arrive and barrier.red, which need not be aligned.
extern "C" __global__ void __launch_bounds__(96, 1) spellings(int *out) {
    __shared__ int data[96];
    int warp = threadIdx.x / 32, any;
    data[threadIdx.x] = 1;
    if (warp == 0) asm volatile("barrier.cta.arrive 2, 64;" ::: "memory");
    if (warp == 1) {
        asm volatile("barrier.sync 2, 64;" ::: "memory");
        out[threadIdx.x] = data[threadIdx.x - 32];
    }
    asm volatile("{\n .reg .pred p, q;\n setp.eq.s32 p, %1, 95;\n barrier.cta.red.or.aligned.pred q, 0, p;\n selp.s32 %0, 1, 0, q;\n}"
                 : "=r"(any)
                 : "r"(threadIdx.x)
                 : "memory");
    if (any) asm volatile("barrier.cta.sync.aligned 3;" ::: "memory");
    out[threadIdx.x] = data[95 - threadIdx.x];
}

// Lanes of a warp pass data to each other: with bar.warp.sync, without, and in lockstep.
extern "C" __global__ void __launch_bounds__(32, 1) warp_right(int *out) {
    __shared__ int data[32];
    data[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = data[31 - threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(32, 1) warp_lockstep(int *out) {
    __shared__ volatile int data[32];
    data[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = data[31 - threadIdx.x];
}

// cp.async: waited for by its thread, then the barrier; without the wait; with one group too few.
template <int WAIT>
static __device__ void copies(const float *in, float *out) {
    __shared__ alignas(16) float data[2][64];
    for (int half = 0; half < 2; half++) {
        unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&data[half][threadIdx.x]));
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.commit_group;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
    }
    if (WAIT == 0) asm volatile("cp.async.wait_group 0;" ::: "memory");
    if (WAIT == 1) asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = data[1][63 - threadIdx.x] + data[0][threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(64, 1) copies_right(const float *in, float *out) { copies<0>(in, out); }
extern "C" __global__ void __launch_bounds__(64, 1) copies_group_too_few(const float *in, float *out) { copies<1>(in, out); }
extern "C" __global__ void __launch_bounds__(64, 1) copies_without_wait(const float *in, float *out) { copies<2>(in, out); }

// Device functions that stay calls, generic addresses, dynamic shared memory, local memory.
extern __shared__ float dynamic[];
static __device__ __noinline__ void put(float *where, int i, float x) { where[i] = x; }
static __device__ __noinline__ float get(const float *where, int i) { return where[i]; }
extern "C" __global__ void __launch_bounds__(64, 1) functions(float *out, int turn) {
    put(dynamic, threadIdx.x, threadIdx.x);
    __syncthreads();
    put(out, threadIdx.x, get(dynamic, 63 - threadIdx.x));
}
extern "C" __global__ void __launch_bounds__(64, 1) functions_wrong(float *out, int turn) {
    put(dynamic, threadIdx.x, threadIdx.x);
    put(out, threadIdx.x, get(dynamic, 63 - threadIdx.x));
}
