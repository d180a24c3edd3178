// race: ptx=race(write-read,inter-block,11,14) barracuda=any arch=sm_90 | a block barrier stands where the cluster's should before another block's shared memory is read
#include <cooperative_groups.h>

__device__ int out[64];

__global__ __cluster_dims__(2) void exchange() {
    __shared__ int tile[32];
    auto cluster = cooperative_groups::this_cluster();
    int t = threadIdx.x;
    cluster.sync();
    tile[t] = blockIdx.x * 100 + t;
    __syncthreads();
    int *theirs = cluster.map_shared_rank(tile, 1 - cluster.block_rank());
    out[blockIdx.x * 32 + t] = theirs[t];
    cluster.sync();
}

int main() {
    exchange<<<2, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
