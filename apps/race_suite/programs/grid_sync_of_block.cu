// race: ptx=race(write-read,inter-block,8,10) barracuda=race(write-read,inter-block,8,10) | the block's group is synchronised where the grid's is meant
#include <cooperative_groups.h>

__device__ int data[128], out[128];

__global__ void rotate() {
    int t = blockIdx.x * 64 + threadIdx.x;
    data[t] = t;
    cooperative_groups::this_thread_block().sync();
    out[t] = data[127 - t];
}

int main() {
    rotate<<<2, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
