#include <cstdio>

// A running sum over blocks: each waits for what the one before it has published.
__global__ void running_sum(const int *in, int *prefix, volatile int *published, int *out) {
    const int block = blockIdx.x;
    int before = 0;
    if (block > 0) {
        while (published[block - 1] == 0) {
        }
        __threadfence();
        before = prefix[block - 1];
    }
    const int inclusive = before + in[block];
    prefix[block] = inclusive;
    published[block] = 1;
    out[block] = inclusive;
}

int main() {
    const int n = 5, in[n] = {4, 8, 15, 16, 23};
    int *memory, out[n];
    cudaMalloc(&memory, 4 * n * sizeof(int));
    cudaMemset(memory, 0, 4 * n * sizeof(int));
    cudaMemcpy(memory, in, sizeof in, cudaMemcpyHostToDevice);
    running_sum<<<n, 1>>>(memory, memory + n, memory + 2 * n, memory + 3 * n);
    cudaMemcpy(out, memory + 3 * n, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0, sum = 0; i < n; i++) {
        sum += in[i];
        if (out[i] != sum) {
            std::printf("prefix %d: %d, not %d\n", i, out[i], sum);
            return 1;
        }
    }
    return 0;
}
