// The lock is taken in the condition of a loop that has a body.
#include <cstdio>

__global__ void raise(int *mutex, int *level, int *waits) {
    int tries = 0;
    while (atomicCAS(mutex, 0, 1) != 0) {
        tries++;
        __nanosleep(10 * tries);
    }
    level[0] += 1;
    level[1] += 2;
    __threadfence();
    atomicExch(mutex, 0);
    waits[blockIdx.x] = tries;
}

int main() {
    const int blocks = 5;
    int *memory, level[2];
    cudaMalloc(&memory, (3 + blocks) * sizeof(int));
    cudaMemset(memory, 0, (3 + blocks) * sizeof(int));
    raise<<<blocks, 1>>>(memory, memory + 1, memory + 3);
    cudaMemcpy(level, memory + 1, sizeof level, cudaMemcpyDeviceToHost);
    if (level[0] != blocks || level[1] != 2 * blocks) {
        std::printf("levels %d and %d\n", level[0], level[1]);
        return 1;
    }
    return 0;
}
