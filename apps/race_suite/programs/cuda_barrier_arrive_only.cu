// race: ptx=race(write-read,intra-block,14,16) barracuda=race(write-read,intra-block,14,16) arch=sm_80 | arrive() without wait() before the reads
#include <cuda/barrier>
#include <cuda/std/utility>

__device__ int out[64];

__global__ void meet() {
    __shared__ int tile[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    int t = threadIdx.x;
    if (t == 0) init(&barrier, 64);
    __syncthreads();
    tile[t] = 3 * t;
    auto token = barrier.arrive();
    out[t] = tile[63 - t];
    barrier.wait(cuda::std::move(token));
}

int main() {
    meet<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
