#include <cstdio>

__device__ int finished = 0;
__device__ int best_of[8];
__device__ int all_best = -1;

__global__ void tournament(const int *scores, int each)
{
    int best = 0;
    for (int i = 0; i < each; ++i)
        best = max(best, scores[blockIdx.x * each + i]);
    best_of[blockIdx.x] = best;

    const int rank = atomicAdd(&finished, 1);
    __threadfence();
    if (rank + 1 == gridDim.x)
    {
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b)
            sum += best_of[b];
        all_best = sum;
    }
}

int main()
{
    const int scores[24] = {3, 14, 15, 9, 26, 5, 35, 8, 97, 93, 23, 84, 62, 64, 33, 83, 27, 95, 2, 88, 41, 97, 16, 93};
    int *device, sum = 0;
    cudaMalloc(&device, sizeof scores);
    cudaMemcpy(device, scores, sizeof scores, cudaMemcpyHostToDevice);
    tournament<<<8, 1>>>(device, 3);
    cudaMemcpyFromSymbol(&sum, all_best, sizeof sum);
    const int expected = 15 + 26 + 97 + 93 + 64 + 95 + 88 + 97;
    if (sum != expected)
    {
        printf("%d, not %d\n", sum, expected);
        return 1;
    }
    return 0;
}
