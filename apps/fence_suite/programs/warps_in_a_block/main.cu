#include <cstdio>

// The first warp leads, the second one follows.
__global__ void relay(int *out) {
    __shared__ int baton[2];
    __shared__ volatile int passed;
    if (threadIdx.x == 0) {
        passed = 0;
        baton[0] = baton[1] = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        baton[0] = 33;
        baton[1] = 44;
        passed = 1;
    }
    if (threadIdx.x == 32) {
        while (!passed) {
        }
        __threadfence_block();
        *out = baton[0] + baton[1];
    }
}

int main() {
    int *out, sum = 0;
    cudaMalloc(&out, sizeof sum);
    relay<<<1, 64>>>(out);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    if (sum != 77) {
        std::printf("%d\n", sum);
        return 1;
    }
    return 0;
}
