#include <cstdio>

struct Guard {
    int *mutex;
    __device__ explicit Guard(int *m) : mutex(m) {
        while (atomicCAS(mutex, 0, 1)) {
        }
        __threadfence();
    }
    __device__ ~Guard() {
        __threadfence();
        atomicExch(mutex, 0);
    }
};

__global__ void push_front(int *mutex, int *head, int *next) {
    const int node = blockIdx.x;
    Guard guard(mutex);
    next[node] = *head;
    *head = node;
}

int main() {
    const int nodes = 5;
    int *memory, head, next[nodes];
    cudaMalloc(&memory, (nodes + 2) * sizeof(int));
    cudaMemset(memory, 0, sizeof(int));
    cudaMemset(memory + 1, 0xff, sizeof(int));
    push_front<<<nodes, 1>>>(memory, memory + 1, memory + 2);
    cudaMemcpy(&head, memory + 1, sizeof head, cudaMemcpyDeviceToHost);
    cudaMemcpy(next, memory + 2, sizeof next, cudaMemcpyDeviceToHost);
    int length = 0;
    for (int at = head; at >= 0 && length <= nodes; at = next[at]) length++;
    if (length != nodes) {
        std::printf("the list has %d nodes\n", length);
        return 1;
    }
    return 0;
}
