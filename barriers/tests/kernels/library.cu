// nvcc: -ptx -lineinfo -arch=compute_80 -std=c++17
// Barriers and copies by the names that the toolkit's library gives them.

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// Two halves of a block hand a buffer back and forth.
extern "C" __global__ void __launch_bounds__(64, 1) barrier(float *out) {
    __shared__ block_barrier ready, done;
    __shared__ float data[32];
    if (threadIdx.x == 0) {
        init(&ready, 64);
        init(&done, 64);
    }
    __syncthreads();
    float sum = 0;
    for (int step = 0; step < 4; step++) {
        if (threadIdx.x < 32) {
            data[threadIdx.x] = step;
            (void)ready.arrive();
            done.arrive_and_wait();
        } else {
            ready.arrive_and_wait();
            sum += data[63 - threadIdx.x];
            (void)done.arrive();
        }
    }
    out[threadIdx.x] = sum;
}

// The halves of a block in groups that meet by themselves.
extern "C" __global__ void __launch_bounds__(64, 1) groups(float *out) {
    __shared__ float data[64];
    auto block = cooperative_groups::this_thread_block();
    auto tile = cooperative_groups::tiled_partition<32>(block);
    data[threadIdx.x] = threadIdx.x;
    tile.sync();
    float x = data[threadIdx.x ^ 1];
    x += tile.shfl_down(x, 1);
    block.sync();
    data[threadIdx.x] = x;
    block.sync();
    out[threadIdx.x] = data[63 - threadIdx.x];
}
