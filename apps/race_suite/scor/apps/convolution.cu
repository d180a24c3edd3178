// race: ptx=none barracuda=none hirace=none scord=none | elements that only one block adds to are added to by atomics of block scope, those near its ends by ones of device scope
// race RACE_1: ptx=race(write-write,inter-block,22,22) barracuda=none hirace=race(write-write,inter-block,22,22) scord=race(write-write,inter-block,22,22) | all elements are added to by atomics of block scope; BARRACUDA knows no scopes of atomics
#include <cstdio>

const int BLOCKS = 4, THREADS = 128, COUNT = BLOCKS * THREADS, REACH = 4;

__constant__ unsigned filter[2 * REACH + 1] = {1, 3, 5, 7, 9, 11, 13, 15, 17};
__device__ unsigned input[COUNT], output[COUNT];

// Each thread spreads one element.
__global__ void convolve() {
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    for (int k = -REACH; k <= REACH; k++) {
        if (i + k < 0 || i + k >= COUNT) continue;
        unsigned product = input[i] * filter[k + REACH];
#ifdef RACE_1
        bool ours = true;
#else
        bool ours = t + k >= REACH && t + k < THREADS - REACH;
#endif
        if (ours) {
            atomicAdd_block(&output[i + k], product);
        } else {
            atomicAdd(&output[i + k], product);
        }
    }
}

int main() {
    static unsigned numbers[COUNT], got[COUNT];
    for (int i = 0; i < COUNT; i++) numbers[i] = i * 2654435761u >> 20;
    cudaMemcpyToSymbol(input, numbers, sizeof(numbers));
    convolve<<<BLOCKS, THREADS>>>();
    if (cudaMemcpyFromSymbol(got, output, sizeof(got)) != cudaSuccess) return 1;
    for (int i = 0; i < COUNT; i++) {
        unsigned sum = 0;
        for (int k = -REACH; k <= REACH; k++) {
            if (i - k >= 0 && i - k < COUNT) sum += numbers[i - k] * (2 * (k + REACH) + 1);
        }
        if (got[i] != sum) {
            printf("element %d: %u instead of %u\n", i, got[i], sum);
            return 1;
        }
    }
    return 0;
}
