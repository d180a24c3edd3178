// race: ptx=none barracuda=none arch=sm_90 | blocks of a cluster read each other's shared memory between two barriers of the cluster
#include <cooperative_groups.h>

__device__ int out[64];

__global__ __cluster_dims__(2) void exchange() {
    __shared__ int tile[32];
    auto cluster = cooperative_groups::this_cluster();
    int t = threadIdx.x;
    tile[t] = blockIdx.x * 100 + t;
    cluster.sync();
    int *theirs = cluster.map_shared_rank(tile, 1 - cluster.block_rank());
    out[blockIdx.x * 32 + t] = theirs[t];
    cluster.sync();
}

int main() {
    exchange<<<2, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
