// nvcc: -ptx -lineinfo -arch=compute_75 -std=c++17
// cuda::barrier where there are no mbarriers: a counter in shared memory that is polled. The right ones, and the same with a mistake.

#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;

#define KERNEL(name) extern "C" __global__ void __launch_bounds__(64, 1) name(float *out, const float *in)

__device__ int next() { return (threadIdx.x + 33) % blockDim.x; }

#define PROLOGUE                                                                                                    \
    __shared__ barrier bar;                                                                                         \
    __shared__ float data[64];                                                                                      \
    if (threadIdx.x == 0) init(&bar, blockDim.x);                                                                   \
    __syncthreads();

KERNEL(arrive_and_wait) {
    PROLOGUE
    data[threadIdx.x] = in[threadIdx.x];
    bar.arrive_and_wait();
    out[threadIdx.x] = data[next()];
}

KERNEL(arrive_then_wait) {
    PROLOGUE
    data[threadIdx.x] = in[threadIdx.x];
    barrier::arrival_token token = bar.arrive();
    out[threadIdx.x + 64] = in[threadIdx.x + 64];
    bar.wait(std::move(token));
    out[threadIdx.x] = data[next()];
}

KERNEL(written_late_wrong) {
    PROLOGUE
    bar.arrive_and_wait();
    data[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = data[next()];
}

KERNEL(read_early_wrong) {
    PROLOGUE
    data[threadIdx.x] = in[threadIdx.x];
    barrier::arrival_token token = bar.arrive();
    out[threadIdx.x] = data[next()];
    bar.wait(std::move(token));
}
