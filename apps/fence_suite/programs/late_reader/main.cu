#include <cstdio>
#include <vector>

__global__ void transfer(int *row, volatile int *flag, int *out, int n) {
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        row[t] = 3 * t;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            *flag = n;
        }
    } else {
        if (t == 0) {
            while (*flag != n) continue;
        }
        __syncthreads();
        out[t] = row[n - 1 - t];
    }
}

int main() {
    const int n = 64;
    int *memory;
    cudaMalloc(&memory, (2 * n + 1) * sizeof(int));
    cudaMemset(memory, 0, (2 * n + 1) * sizeof(int));
    transfer<<<2, n>>>(memory, memory + n, memory + n + 1, n);
    std::vector<int> out(n);
    cudaMemcpy(out.data(), memory + n + 1, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int t = 0; t < n; t++) {
        if (out[t] != 3 * (n - 1 - t)) {
            std::printf("%d at %d\n", out[t], t);
            return 1;
        }
    }
    return 0;
}
