// race: ptx=none barracuda=none hirace=race(write-read,inter-block,30,36) scord=none | cells are handed on behind barriers in a block, and behind fences of device scope at its borders; HiRace knows neither fences nor flags
// race RACE_1: ptx=none barracuda=race(write-read,inter-block,30,36) hirace=race(write-read,inter-block,30,36) scord=race(write-read,inter-block,30,36) | the fences around the flag of a border cell are of block scope; in PTX volatile accesses do not race
// race RACE_2: ptx=race(write-write,inter-block,44,44) barracuda=none hirace=race(write-read,inter-block,30,36)+race(write-write,inter-block,44,44) scord=race(write-write,inter-block,44,44) | cells that live are counted by an atomic of block scope; BARRACUDA knows no scopes of atomics
#include <cstdio>

const int BLOCKS = 4, THREADS = 64, CELLS = BLOCKS * THREADS, STEPS = 12;

#ifdef RACE_1
#define border_fence __threadfence_block
#else
#define border_fence __threadfence
#endif
#ifdef RACE_2
#define count_add atomicAdd_block
#else
#define count_add atomicAdd
#endif

// Cells by parity of the step; border cells and how many steps of them are there by block and side.
__device__ unsigned cells[2][CELLS], border[BLOCKS][2][2], steps[BLOCKS][2], living;

__global__ void automaton() {
    int t = threadIdx.x, block = blockIdx.x, i = block * THREADS + t;
    bool first = t == 0 && block > 0, last = t == THREADS - 1 && block < BLOCKS - 1;
    int beside = last ? block + 1 : block - 1, side = last, facing = !last;
    for (int step = 0; step < STEPS; step++) {
        volatile unsigned *now = cells[step % 2], *next = cells[(step + 1) % 2];
        unsigned far = 0;
        if (first || last) {
            *(volatile unsigned *)&border[block][side][step % 2] = now[i];
            border_fence();
            atomicExch(&steps[block][side], step + 1);
            while (atomicAdd(&steps[beside][facing], 0) <= step) {
            }
            border_fence();
            far = *(volatile unsigned *)&border[beside][facing][step % 2];
        }
        unsigned left = t > 0 ? now[i - 1] : first ? far : 0;
        unsigned right = t < THREADS - 1 ? now[i + 1] : last ? far : 0;
        next[i] = 110 >> (left * 4 + now[i] * 2 + right) & 1;
        __threadfence_block();
        __syncthreads();
    }
    count_add(&living, cells[STEPS % 2][i]);
}

int main() {
    static unsigned start[CELLS], row[CELLS], got[CELLS];
    unsigned expected = 0, counted = 0;
    for (int i = 0; i < CELLS; i++) row[i] = start[i] = i * 2654435761u >> 30 & 1;
    for (int step = 0; step < STEPS; step++) {
        unsigned left = 0;
        for (int i = 0; i < CELLS; i++) {
            unsigned right = i + 1 < CELLS ? row[i + 1] : 0, was = row[i];
            row[i] = 110 >> (left * 4 + was * 2 + right) & 1;
            left = was;
        }
    }
    cudaMemcpyToSymbol(cells, start, sizeof(start));
    automaton<<<BLOCKS, THREADS>>>();
    if (cudaMemcpyFromSymbol(got, cells, sizeof(got), STEPS % 2 * sizeof(got)) != cudaSuccess) return 1;
    for (int i = 0; i < CELLS; i++) {
        if (got[i] != row[i]) {
            printf("cell %d: %u instead of %u\n", i, got[i], row[i]);
            return 1;
        }
        expected += row[i];
    }
    cudaMemcpyFromSymbol(&counted, living, sizeof(counted));
    if (counted != expected) printf("%u cells live instead of %u\n", counted, expected);
    return counted != expected;
}
