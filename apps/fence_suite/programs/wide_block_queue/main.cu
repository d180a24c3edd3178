#include <cstdio>

// Each block has a queue of its own in global memory: its first warp fills it, its second one empties it.
struct Queue {
    int items[4];
    int filled;
};

__global__ void queues(Queue *queues, int *sums) {
    Queue *mine = queues + blockIdx.x;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++) {
            mine->items[i] = blockIdx.x + i;
            __threadfence_block();
            atomicAdd(&mine->filled, 1);
        }
    }
    if (threadIdx.x == 32) {
        int sum = 0;
        for (int i = 0; i < 4; i++) {
            while (atomicAdd(&mine->filled, 0) <= i) {
            }
            __threadfence();
            sum += mine->items[i];
        }
        sums[blockIdx.x] = sum;
    }
}

int main() {
    const int blocks = 2;
    Queue *memory;
    int *sums, host[blocks];
    cudaMalloc(&memory, blocks * sizeof(Queue));
    cudaMemset(memory, 0, blocks * sizeof(Queue));
    cudaMalloc(&sums, sizeof host);
    queues<<<blocks, 64>>>(memory, sums);
    cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
    for (int b = 0; b < blocks; b++) {
        if (host[b] != 4 * b + 6) {
            std::printf("block %d: %d\n", b, host[b]);
            return 1;
        }
    }
    return 0;
}
