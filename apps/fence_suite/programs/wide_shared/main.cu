#include <cstdio>

// Everything stays within the block.
__global__ void two_warps(const int *in, int *out) {
    __shared__ int value;
    __shared__ volatile int set;
    if (threadIdx.x == 0) set = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = 2 * *in;
        __threadfence();
        set = 1;
    } else if (threadIdx.x == 32) {
        while (set == 0) {
        }
        __threadfence();
        *out = value;
    }
}

int main() {
    int *in, *out, value = 32;
    cudaMalloc(&in, sizeof value);
    cudaMalloc(&out, sizeof value);
    cudaMemcpy(in, &value, sizeof value, cudaMemcpyHostToDevice);
    two_warps<<<1, 64>>>(in, out);
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
    if (value != 64) {
        std::printf("%d\n", value);
        return 1;
    }
    return 0;
}
