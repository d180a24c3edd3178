#include <cstdio>

__device__ int word;
__device__ volatile int written;

__global__ void dictate(int *out) {
    if (blockIdx.x == 0) {
        word = 26;
        __threadfence();
        written = 1;
        __threadfence();
    } else {
        while (written == 0) {
        }
        __threadfence();
        *out = word;
    }
}

int main() {
    int *out, got = 0;
    cudaMalloc(&out, sizeof got);
    dictate<<<2, 1>>>(out);
    cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
    if (got != 26) {
        std::printf("%d\n", got);
        return 1;
    }
    return 0;
}
