#include <cstdio>

#define WARP 32

__global__ void pipeline(const float *in, float *out, int chunks) {
    __shared__ float stage[4];
    __shared__ int filled;
    if (threadIdx.x == 0) filled = 0;
    __syncthreads();

    const int warp = threadIdx.x / WARP;
    if (threadIdx.x % WARP != 0) return;

    for (int c = 0; c < chunks; c++) {
        if (warp == 0) {
            // load and scale
            stage[c] = 0.5f * in[c];
            atomicExch(&filled, c + 1);
        } else {
            while (atomicMax(&filled, 0) <= c) {
            }
            out[c] = stage[c] + 1.0f;
        }
    }
}

int main() {
    const float in[4] = {2, 4, 6, 8};
    float *device, out[4];
    cudaMalloc(&device, 2 * sizeof in);
    cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice);
    pipeline<<<1, 2 * WARP>>>(device, device + 4, 4);
    cudaMemcpy(out, device + 4, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; i++) {
        if (out[i] != in[i] / 2 + 1) {
            printf("chunk %d is %g\n", i, out[i]);
            return 1;
        }
    }
    return 0;
}
