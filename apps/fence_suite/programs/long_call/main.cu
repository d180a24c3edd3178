#include <cstdio>

__device__ __noinline__ int wait_for(int *flag, int least) {
    int seen;
    do {
        seen = atomicMax(flag, 0);
    } while (seen < least);
    return seen;
}

__global__ void exchange(int *flag, int *values, int *out) {
    if (blockIdx.x == 0) {
        values[0] = 3;
        values[1] = 4;
        __threadfence();
        atomicMax(flag, 2);
    } else {
        const int available =
            wait_for(flag,
                     2);
        out[0] = available
                 * values[0]
                 * values[1];
    }
}

int main() {
    int *memory, product = 0;
    cudaMalloc(&memory, 4 * sizeof(int));
    cudaMemset(memory, 0, 4 * sizeof(int));
    exchange<<<2, 1>>>(memory, memory + 1, memory + 3);
    cudaMemcpy(&product, memory + 3, sizeof(int), cudaMemcpyDeviceToHost);
    if (product != 24) {
        std::printf("product %d\n", product);
        return 1;
    }
    return 0;
}
