#include <cstdio>

// Each block draws as many numbers as it has threads.
__global__ void draw(int *next, int *drawn) {
    const int number = atomicAdd_block(next, 1);
    atomicAdd(&drawn[number], 1);
}

int main() {
    const int blocks = 4, threads = 4, n = blocks * threads;
    int *next, *drawn, host[n];
    cudaMalloc(&next, sizeof(int));
    cudaMalloc(&drawn, sizeof host);
    cudaMemset(next, 0, sizeof(int));
    cudaMemset(drawn, 0, sizeof host);
    draw<<<blocks, threads>>>(next, drawn);
    cudaMemcpy(host, drawn, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        if (host[i] != 1) {
            std::printf("%d was drawn %d times\n", i, host[i]);
            return 1;
        }
    }
    return 0;
}
