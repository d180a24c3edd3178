// race: ptx=none barracuda=none arch=sm_80 | a pipeline of the thread: the wait is for its own copies, the block barrier for those of others
#include <cuda/pipeline>

__device__ int in[64], out[64];

__global__ void fetch() {
    __shared__ int tile[64];
    int t = threadIdx.x;
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[t], &in[t], cuda::aligned_size_t<4>(4), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    out[t] = tile[63 - t];
    pipe.consumer_release();
}

int main() {
    fetch<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
