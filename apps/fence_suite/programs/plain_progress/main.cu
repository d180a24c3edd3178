#include <cstdio>

__device__ int progress;

// The reporter reads the progress when it knows that all is done.
__global__ void work(int *done, int *seen) {
    if (blockIdx.x < 3) {
        atomicAdd(&progress, 10);
        atomicAdd(done, 1);
    } else {
        while (atomicAdd(done, 0) < 3) {
        }
        *seen = progress;
    }
}

int main() {
    int *memory, seen = 0;
    cudaMalloc(&memory, 2 * sizeof(int));
    cudaMemset(memory, 0, 2 * sizeof(int));
    work<<<4, 1>>>(memory, memory + 1);
    cudaMemcpy(&seen, memory + 1, sizeof(int), cudaMemcpyDeviceToHost);
    if (seen != 30) {
        std::printf("progress %d\n", seen);
        return 1;
    }
    return 0;
}
