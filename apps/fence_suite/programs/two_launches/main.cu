#include <cstdio>

// One block a launch is harmless; the second launch has many.
__global__ void tally(int *lock, int *votes) {
    while (atomicCAS(lock, 0, 1) == 1) {
    }
    __threadfence();
    votes[0] += 1;
    atomicExch(lock, 0);
}

int main() {
    int *lock, *votes, count = 0;
    cudaMalloc(&lock, sizeof(int));
    cudaMalloc(&votes, sizeof(int));
    cudaMemset(lock, 0, sizeof(int));
    cudaMemset(votes, 0, sizeof(int));
    tally<<<1, 1>>>(lock, votes);
    cudaDeviceSynchronize();
    tally<<<5, 1>>>(lock, votes);
    cudaMemcpy(&count, votes, sizeof(int), cudaMemcpyDeviceToHost);
    if (count != 6) {
        std::printf("%d votes\n", count);
        return 1;
    }
    return 0;
}
