// race: ptx=none barracuda=none | host and kernel hand a word of page-locked memory to each other and back by volatile marks
#include <atomic>

__global__ void serve(volatile int *ask, volatile int *answer, int *data) {
    while (*ask == 0) {
    }
    __threadfence_system();
    data[0] += 1;
    __threadfence_system();
    *answer = 1;
}

int main() {
    int *words;
    cudaHostAlloc((void **)&words, 4096, cudaHostAllocMapped);
    volatile int *ask = &words[64], *answer = &words[128];
    *ask = *answer = 0;
    serve<<<1, 1>>>(ask, answer, words);
    words[0] = 41;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    *ask = 1;
    while (*answer == 0) {
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    int seen = words[0];
    cudaDeviceSynchronize();
    return seen != 42;
}
