#include <cstdio>

__device__ int lock_word;
__device__ int shared_total;

__global__ void add(int each) {
    while (atomicCAS(&lock_word, 0, 1) != 0) {
    }
    __threadfence();
    shared_total += each;
    __threadfence_block();
    atomicExch(&lock_word, 0);
}

int main() {
    int total = 0;
    add<<<5, 1>>>(3);
    cudaMemcpyFromSymbol(&total, shared_total, sizeof total);
    if (total != 15) {
        std::printf("total %d\n", total);
        return 1;
    }
    return 0;
}
