// Every block deposits into one account, under a lock.
#include <cstdio>

__device__ int mutex = 0;

__device__ void lock()
{
    while (atomicCAS(&mutex, 0, 1) != 0)
        ;
}

__device__ void unlock()
{
    atomicExch(&mutex, 0);
}

__global__ void deposit(int *balance, int amount)
{
    if (threadIdx.x == 0) {
        lock();
        *balance += amount;
        unlock();
    }
}

int main()
{
    const int blocks = 6, amount = 25;
    int *balance, after = -1;
    cudaMalloc(&balance, sizeof(int));
    cudaMemset(balance, 0, sizeof(int));
    deposit<<<blocks, 32>>>(balance, amount);
    cudaMemcpy(&after, balance, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(balance);
    if (after != blocks * amount) {
        printf("balance: %d, not %d\n", after, blocks * amount);
        return 1;
    }
    return 0;
}
