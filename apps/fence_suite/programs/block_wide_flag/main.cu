#include <cstdio>

__device__ int state;
__device__ int cargo[2];

__device__ void load_up() {
    cargo[0] = 51;
    cargo[1] = 52;
    __threadfence();
    atomicExch_block(&state, 1);
}

__device__ int unload() {
    while (atomicAdd(&state, 0) == 0) {
    }
    __threadfence();
    return cargo[0] + cargo[1];
}

__global__ void dock(int *out) {
    if (blockIdx.x == 0) {
        load_up();
    } else {
        *out = unload();
    }
}

int main() {
    int *out, sum = 0;
    cudaMalloc(&out, sizeof sum);
    dock<<<2, 1>>>(out);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    if (sum == 103) return 0;
    std::printf("%d tons\n", sum);
    return 1;
}
