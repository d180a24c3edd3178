// race: ptx=none barracuda=none hirace=any scord=race(write-read/write-write,inter-block,9,18)+lines(9,18) | a number is counted under a lock and read behind a barrier of the grid, without it
#include <cooperative_groups.h>
__device__ int lock, total, out;

__device__ void count() {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    ((volatile int *)&total)[0] += 1;
    __threadfence();
    atomicExch(&lock, 0);
}

__global__ void add() {
    if (threadIdx.x == 0) count();
    __threadfence();
    cooperative_groups::this_grid().sync();
    if (blockIdx.x + threadIdx.x == 0) out = *(volatile int *)&total;
}

int main() {
    cudaLaunchCooperativeKernel((void *)add, dim3(2), dim3(32), nullptr);
    return cudaDeviceSynchronize() != cudaSuccess;
}
