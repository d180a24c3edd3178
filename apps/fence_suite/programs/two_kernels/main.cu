#include <cstdio>

__global__ void squares(int *values, int *flag, int *out) {
    if (blockIdx.x == 0) {
        values[0] = 49;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) != 1) {
        }
        __threadfence();
        out[0] = values[0];
    }
}

__global__ void cubes(int *values, int *flag, int *out) {
    if (blockIdx.x == 0) {
        values[0] = 343;
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) != 1) {
        }
        __threadfence();
        out[0] = values[0];
    }
}

int main() {
    int *memory, out[2];
    cudaMalloc(&memory, 6 * sizeof(int));
    cudaMemset(memory, 0, 6 * sizeof(int));
    squares<<<2, 1>>>(memory, memory + 1, memory + 4);
    cubes<<<2, 1>>>(memory + 2, memory + 3, memory + 5);
    cudaMemcpy(out, memory + 4, sizeof out, cudaMemcpyDeviceToHost);
    if (out[0] != 49 || out[1] != 343) {
        std::printf("%d %d\n", out[0], out[1]);
        return 1;
    }
    return 0;
}
