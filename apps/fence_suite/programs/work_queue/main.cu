#include <cstdio>

struct Queue {
    int tail, head;
    int jobs[16];
    int ready[16];
};

__device__ void push(Queue &queue, int job) {
    const int slot = atomicAdd(&queue.tail, 1);
    queue.jobs[slot] = job;
    atomicExch(&queue.ready[slot], 1);
}

__device__ int pop(Queue &queue) {
    const int slot = atomicAdd(&queue.head, 1);
    while (atomicAdd(&queue.ready[slot], 0) == 0) {
    }
    __threadfence();
    return queue.jobs[slot];
}

__global__ void factory(Queue *queue, int *result) {
    const bool producer = blockIdx.x % 2 == 0;
    for (int i = 0; i < 3; i++) {
        if (producer) {
            push(*queue, 1 << (3 * (blockIdx.x / 2) + i));
        } else {
            atomicAdd(result, pop(*queue));
        }
    }
}

int main() {
    Queue *queue;
    int *result, done;
    cudaMalloc(&queue, sizeof(Queue));
    cudaMalloc(&result, sizeof(int));
    cudaMemset(queue, 0, sizeof(Queue));
    cudaMemset(result, 0, sizeof(int));
    factory<<<4, 1>>>(queue, result);
    cudaMemcpy(&done, result, sizeof(int), cudaMemcpyDeviceToHost);
    if (done != 63) {
        printf("jobs %x were done, not 3f\n", done);
        return 1;
    }
    return 0;
}
