// race: ptx=none barracuda=none arch=sm_80 | cuda::barrier of the block: arrive_and_wait() orders all who take part
#include <cuda/barrier>

__device__ int out[64];

__global__ void meet() {
    __shared__ int tile[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    int t = threadIdx.x;
    if (t == 0) init(&barrier, 64);
    __syncthreads();
    tile[t] = 3 * t;
    barrier.arrive_and_wait();
    out[t] = tile[63 - t];
}

int main() {
    meet<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
