#include <cstdio>

constexpr unsigned SIZE = 2;

struct Ring {
    int slots[SIZE];
    volatile unsigned head;   // written by the producer
    volatile unsigned tail;   // written by the consumer
};

__device__ void put(Ring *ring, int item) {
    const unsigned head = ring->head;
    while (head - ring->tail == SIZE) {
    }
    __threadfence();
    ring->slots[head % SIZE] = item;
    ring->head = head + 1;
}

__device__ int take(Ring *ring) {
    const unsigned tail = ring->tail;
    while (ring->head == tail) {
    }
    __threadfence();
    const int item = ring->slots[tail % SIZE];
    __threadfence();
    ring->tail = tail + 1;
    return item;
}

__global__ void pump(Ring *ring, int items, int *wrong) {
    for (int i = 1; i <= items; i++) {
        if (blockIdx.x == 0) {
            put(ring, 7 * i);
        } else if (take(ring) != 7 * i) {
            *wrong = i;
        }
    }
}

int main() {
    Ring *ring;
    int *wrong, which;
    cudaMalloc(&ring, sizeof(Ring));
    cudaMalloc(&wrong, sizeof(int));
    cudaMemset(ring, 0, sizeof(Ring));
    cudaMemset(wrong, 0, sizeof(int));
    pump<<<2, 1>>>(ring, 6, wrong);
    cudaMemcpy(&which, wrong, sizeof(int), cudaMemcpyDeviceToHost);
    if (which) std::printf("item %d came out wrong\n", which);
    return which != 0;
}
