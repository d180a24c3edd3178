// race: ptx=none barracuda=none hirace=race(write-read,intra-block,17,24)+race(write-read,inter-block,30,44) scord=none | warps hand sums to each other behind fences of block scope, blocks theirs to the last one behind a fence of device scope; HiRace knows neither fences nor flags
// race RACE_1: ptx=none barracuda=none hirace=race(write-read,intra-block,17,24)+race(write-read,inter-block,30,44) scord=race(write-read,inter-block,30,44) | the fence behind the sum of the block is of block scope; in PTX volatile accesses do not race, BARRACUDA takes one global fence of the two for enough
// race RACE_2: ptx=race(write-write,inter-block,37,37) barracuda=none hirace=race(write-read,intra-block,17,24)+race(write-read,inter-block,30,44)+race(write-write,inter-block,37,37) scord=race(write-write,inter-block,37,37)+lines(37,30,44) | blocks are counted by an atomic of block scope; BARRACUDA knows no scopes of atomics
#include <cstdio>

const int BLOCKS = 4, THREADS = 128, EACH = 8, COUNT = BLOCKS * THREADS * EACH;

__device__ unsigned input[COUNT], part[BLOCKS][THREADS], ready[BLOCKS][THREADS], sums[BLOCKS], arrived, total;

__global__ void reduce() {
    int t = threadIdx.x;
    volatile unsigned *mine = part[blockIdx.x], *all = sums;
    unsigned sum = 0;
    for (int e = 0; e < EACH; e++) sum += input[(blockIdx.x * EACH + e) * THREADS + t];
    for (int half = THREADS / 2; half >= 32; half /= 2) {
        if (t >= half && t < 2 * half) {
            mine[t] = sum;
            __threadfence_block();
            atomicExch_block(&ready[blockIdx.x][t], 1);
        } else if (t < half) {
            while (atomicAdd_block(&ready[blockIdx.x][t + half], 0) == 0) {
            }
            __threadfence_block();
            sum += mine[t + half];
        }
    }
    if (t >= 32) return;
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
    if (t != 0) return;
    all[blockIdx.x] = sum;
#ifdef RACE_1
    __threadfence_block();
#else
    __threadfence();
#endif
#ifdef RACE_2
    unsigned before = atomicAdd_block(&arrived, 1);
#else
    unsigned before = atomicAdd(&arrived, 1);
#endif
    if (before != BLOCKS - 1) return;
    __threadfence();
    sum = 0;
    for (int b = 0; b < BLOCKS; b++) sum += all[b];
    total = sum;
}

int main() {
    static unsigned numbers[COUNT];
    unsigned expected = 0, got = 0;
    for (int i = 0; i < COUNT; i++) expected += numbers[i] = i * 2654435761u >> 16;
    cudaMemcpyToSymbol(input, numbers, sizeof(numbers));
    reduce<<<BLOCKS, THREADS>>>();
    if (cudaMemcpyFromSymbol(&got, total, sizeof(got)) != cudaSuccess) return 1;
    if (got != expected) printf("%u instead of %u\n", got, expected);
    return got != expected;
}
