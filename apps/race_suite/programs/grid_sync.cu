// race: ptx=none barracuda=none | grid.sync() of cooperative groups orders the whole grid: block barrier, atom.release, ld.acquire, block barrier
#include <cooperative_groups.h>

__device__ int data[128], out[128];

__global__ void rotate() {
    int t = blockIdx.x * 64 + threadIdx.x;
    data[t] = t;
    cooperative_groups::this_grid().sync();
    out[t] = data[127 - t];
}

int main() {
    cudaLaunchCooperativeKernel((void *)rotate, dim3(2), dim3(64), nullptr);
    return cudaDeviceSynchronize() != cudaSuccess;
}
