// race: ptx=race(write-read,intra-warp/intra-block/divergence,8,10) barracuda=any hirace=none scord=none arch=sm_80 | a thread reads what its own asynchronous copy writes, and has not waited for it
#include <cuda_pipeline.h>
__device__ int in[32], out[32];

__global__ void copy() {
    __shared__ int tile[32];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(int));
    __pipeline_commit();
    out[t] = tile[t];
    __pipeline_wait_prior(0);
}

int main() {
    copy<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
