// race: ptx=none barracuda=none | a packed atomic is an atomic of each of its halves, and the other block's atomic is of one of them
#include <cuda_fp16.h>

__device__ __half2 sums;

__global__ void add() {
    if (blockIdx.x == 0) {
        atomicAdd(&sums, __half2(1, 1));
    } else {
        atomicAdd(reinterpret_cast<__half *>(&sums) + 1, __half(1));
    }
}

int main() {
    add<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
