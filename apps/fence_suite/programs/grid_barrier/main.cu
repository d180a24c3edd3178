#include <cstdio>

__device__ unsigned waiting;

// All blocks have to be resident.
__device__ void grid_sync(unsigned blocks) {
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&waiting, 1);
        while (atomicAdd(&waiting, 0) < blocks) {
        }
    }
    __syncthreads();
}

__global__ void shift(int *row, int *out) {
    const int n = gridDim.x * blockDim.x;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    row[i] = 2 * i + 1;
    grid_sync(gridDim.x);
    out[i] = row[(i + blockDim.x) % n];
}

int main() {
    const int blocks = 3, threads = 32, n = blocks * threads;
    int *memory, out[n];
    cudaMalloc(&memory, 2 * n * sizeof(int));
    cudaMemset(memory, 0, 2 * n * sizeof(int));
    shift<<<blocks, threads>>>(memory, memory + n);
    cudaMemcpy(out, memory + n, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        if (out[i] != 2 * ((i + threads) % n) + 1) {
            std::printf("%d at %d\n", out[i], i);
            return 1;
        }
    }
    return 0;
}
