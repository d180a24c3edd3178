// race: ptx=race(write-read,inter-block,9,11) barracuda=any | a packed atomic changes halves one by one, and the volatile load reads both at once
#include <cuda_fp16.h>

__device__ __half2 sums;
__device__ unsigned out;

__global__ void add() {
    if (blockIdx.x == 0) {
        atomicAdd(&sums, __half2(1, 1));
    } else {
        out = *reinterpret_cast<volatile unsigned *>(&sums);
    }
}

int main() {
    add<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
