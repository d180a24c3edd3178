// race: ptx=none barracuda=none hirace=race(write-read/write-write,intra-block,48,48)+race(write-read/write-write,inter-block,67,67) scord=none | warps add to their block's part under a lock of block scope, blocks to the result under one of device scope; HiRace knows no locks
// race RACE_1: ptx=race(write-write,inter-block,61,74)+lines(61,74) barracuda=none hirace=race(write-read/write-write,intra-block,48,48)+race(write-read/write-write,inter-block,67,67)+lines(61,74,48,67) scord=race(write-write,inter-block,61,74)+lines(61,74,67) | the atomics of the result's lock are of block scope; BARRACUDA knows no scopes of atomics
// race RACE_2: ptx=none barracuda=race(write-read/write-write,inter-block,67,67) hirace=race(write-read/write-write,intra-block,48,48)+race(write-read/write-write,inter-block,67,67) scord=race(write-read/write-write,inter-block,67,67) | the fences of the result's lock are of block scope; in PTX volatile accesses do not race
// race RACE_3: ptx=none barracuda=race(write-read/write-write,inter-block,67,67) hirace=race(write-read/write-write,intra-block,48,48)+race(write-read/write-write,inter-block,67,67) scord=race(write-read/write-write,inter-block,67,67) | no fence before the result's lock is given back; in PTX volatile accesses do not race
// race RACE_4: ptx=none barracuda=race(write-read/write-write,intra-block,48,48) hirace=race(write-read/write-write,intra-block,48,48)+race(write-read/write-write,inter-block,67,67) scord=race(write-read/write-write,intra-block,48,48) | the warps of a block take no lock; in PTX volatile accesses do not race
#include <cstdio>

const int ROWS = 8, INNER = 64, COLUMNS = 16, BLOCKS = 4, WARPS = 4;
const int SLICE = INNER / BLOCKS / WARPS, EACH = ROWS * COLUMNS / 32;

#ifdef RACE_1
#define result_cas atomicCAS_block
#define result_exch atomicExch_block
#else
#define result_cas atomicCAS
#define result_exch atomicExch
#endif
#ifdef RACE_2
#define result_fence __threadfence_block
#else
#define result_fence __threadfence
#endif

__device__ unsigned a[ROWS * INNER], b[INNER * COLUMNS];
__device__ unsigned part[BLOCKS][ROWS * COLUMNS], part_lock[BLOCKS];
__device__ unsigned result[ROWS * COLUMNS], result_lock;

// Each warp multiplies a slice of a's columns with one of b's rows. Its first lane takes the locks for all.
__global__ void multiply() {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int begin = (blockIdx.x * WARPS + warp) * SLICE;
    volatile unsigned *mine = part[blockIdx.x], *whole = result;
    unsigned sum[EACH];
    for (int e = 0; e < EACH; e++) {
        int row = (e * 32 + lane) / COLUMNS, column = lane % COLUMNS;
        sum[e] = 0;
        for (int k = begin; k < begin + SLICE; k++) sum[e] += a[row * INNER + k] * b[k * COLUMNS + column];
    }
#ifndef RACE_4
    if (lane == 0) {
        while (atomicCAS_block(&part_lock[blockIdx.x], 0, 1) != 0) {
        }
        __threadfence_block();
    }
    __syncwarp();
#endif
    for (int e = 0; e < EACH; e++) {
        mine[e * 32 + lane] = mine[e * 32 + lane] + sum[e];
    }
#ifndef RACE_4
    __syncwarp();
    if (lane == 0) {
        __threadfence_block();
        atomicExch_block(&part_lock[blockIdx.x], 0);
    }
#endif
    __syncthreads();
    if (warp != 0) return;
    for (int e = 0; e < EACH; e++) sum[e] = mine[e * 32 + lane];
    if (lane == 0) {
        while (result_cas(&result_lock, 0, 1) != 0) {
        }
        result_fence();
    }
    __syncwarp();
    for (int e = 0; e < EACH; e++) {
        whole[e * 32 + lane] = whole[e * 32 + lane] + sum[e];
    }
    __syncwarp();
    if (lane == 0) {
#ifndef RACE_3
        result_fence();
#endif
        result_exch(&result_lock, 0);
    }
}

int main() {
    static unsigned left[ROWS * INNER], right[INNER * COLUMNS], got[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * INNER; i++) left[i] = i * 7 % 31;
    for (int i = 0; i < INNER * COLUMNS; i++) right[i] = i * 5 % 29;
    cudaMemcpyToSymbol(a, left, sizeof(left));
    cudaMemcpyToSymbol(b, right, sizeof(right));
    multiply<<<BLOCKS, WARPS * 32>>>();
    if (cudaMemcpyFromSymbol(got, result, sizeof(got)) != cudaSuccess) return 1;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        unsigned sum = 0;
        for (int k = 0; k < INNER; k++) sum += left[i / COLUMNS * INNER + k] * right[k * COLUMNS + i % COLUMNS];
        if (got[i] != sum) {
            printf("element %d: %u instead of %u\n", i, got[i], sum);
            return 1;
        }
    }
    return 0;
}
