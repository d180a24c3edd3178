#include <cstdio>

__device__ static inline void lock(int *m)   { while (atomicCAS(m, 0, 1)) {} __threadfence(); }
__device__ static inline void unlock(int *m)
{
    atomicExch(m, 0);
}

struct Shop { int mutex, apples, pears, plums; };

__global__ void sell(Shop *shop)
{
    lock(&shop->mutex);
    shop->apples -= 1;
    unlock(&shop->mutex);

    lock(&shop->mutex);
    shop->pears -= 2;
    unlock(&shop->mutex);

    lock(&shop->mutex);
    shop->plums -= 3;
    unlock(&shop->mutex);
}

int main()
{
    Shop stock = {0, 100, 100, 100}, *shop;
    cudaMalloc(&shop, sizeof stock);
    cudaMemcpy(shop, &stock, sizeof stock, cudaMemcpyHostToDevice);
    sell<<<4, 1>>>(shop);
    cudaMemcpy(&stock, shop, sizeof stock, cudaMemcpyDeviceToHost);
    if (stock.apples == 96 && stock.pears == 92 && stock.plums == 88)
        return 0;
    printf("%d apples, %d pears, %d plums\n", stock.apples, stock.pears, stock.plums);
    return 1;
}
