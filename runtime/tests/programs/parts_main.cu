// A program of several files whose device code is linked (-rdc=true): with parts_other.cu.
#include "check.h"

extern __device__ int counter;
extern __device__ int twice(int number);
void launch_other();

__global__ void fill(int *to) {
    to[threadIdx.x] = twice(threadIdx.x);
    atomicAdd(&counter, 1);
}

int main() {
    int *memory, back[32], count = 0;
    OK(cudaMalloc(&memory, sizeof back));
    fill<<<1, 32>>>(memory);
    launch_other();
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(back, memory, sizeof back, cudaMemcpyDeviceToHost));
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    CHECK(back[31] == 62 && count == 10 + 32 + 100);
    return wrong != 0;
}
