#include <cstdio>

__device__ int money;
__device__ volatile int paid;

__global__ void pay(int amount, int *received)
{
    if (blockIdx.x == 0)
    {
        money = amount;
        if (amount == 0)
            return;
        else
            paid = 1;
    }
    else
    {
        while (!paid)
            ;
        __threadfence();
        *received = money;
    }
}

int main()
{
    int *received, amount = 0;
    cudaMalloc(&received, sizeof amount);
    pay<<<2, 1>>>(750, received);
    cudaMemcpy(&amount, received, sizeof amount, cudaMemcpyDeviceToHost);
    if (amount != 750)
    {
        printf("received %d\n", amount);
        return 1;
    }
    return 0;
}
