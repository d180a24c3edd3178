#include <cstdio>

__device__ float parameters[3];
__device__ volatile int loaded;

// Both fences are needed: the second one keeps the reads behind that of the flag.
__global__ void evaluate(float x, float *y) {
    if (blockIdx.x == 0) {
        parameters[0] = 2.0f;
        parameters[1] = -1.0f;
        parameters[2] = 0.5f;
        __threadfence();
        loaded = 3;
    } else {
        while (loaded != 3) {
        }
        __threadfence();
        *y = (parameters[0] * x + parameters[1]) * x + parameters[2];
    }
}

int main() {
    float *y, value = 0;
    cudaMalloc(&y, sizeof value);
    evaluate<<<2, 1>>>(3.0f, y);
    cudaMemcpy(&value, y, sizeof value, cudaMemcpyDeviceToHost);
    if (value != 15.5f) {
        std::printf("%g\n", value);
        return 1;
    }
    return 0;
}
