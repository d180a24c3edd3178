#include <cstdio>

template <int Step>
__device__ void count(int *mutex, int *total) {
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    *total = *total + Step;
    __threadfence();
    atomicExch(mutex, 0);
}

__global__ void both(int *mutex, int *total) {
    if (blockIdx.x & 1) {
        count<10>(mutex, total);
    } else {
        count<1>(mutex, total);
    }
}

int main() {
    int *memory, total = 0;
    cudaMalloc(&memory, 2 * sizeof(int));
    cudaMemset(memory, 0, 2 * sizeof(int));
    both<<<6, 1>>>(memory, memory + 1);
    cudaMemcpy(&total, memory + 1, sizeof(int), cudaMemcpyDeviceToHost);
    if (total != 33) printf("total %d\n", total);
    return total == 33 ? 0 : 1;
}
