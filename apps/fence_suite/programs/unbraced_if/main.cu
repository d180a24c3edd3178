#include <cstdio>

__global__ void spread(int *row, int *flag, int *out) {
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        row[t] = t + 1;
        __syncthreads();
        if (t == 0)
            atomicExch(flag, 1);
    } else {
        if (t == 0) {
            while (atomicAdd(flag, 0) == 0) {
            }
            __threadfence();
        }
        __syncthreads();
        out[t] = row[t] * row[t];
    }
}

int main() {
    const int n = 32;
    int *memory, out[n];
    cudaMalloc(&memory, (2 * n + 1) * sizeof(int));
    cudaMemset(memory, 0, (2 * n + 1) * sizeof(int));
    spread<<<2, n>>>(memory, memory + n, memory + n + 1);
    cudaMemcpy(out, memory + n + 1, sizeof out, cudaMemcpyDeviceToHost);
    for (int t = 0; t < n; t++)
        if (out[t] != (t + 1) * (t + 1)) {
            std::printf("%d at %d\n", out[t], t);
            return 1;
        }
    return 0;
}
