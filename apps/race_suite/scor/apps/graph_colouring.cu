// race: ptx=none barracuda=none hirace=none scord=none | blocks take vertices of their own partition and steal from others by atomics of device scope; colours are set and looked at by atomics as well
// race RACE_1: ptx=race(write-write,inter-block,48,52) barracuda=none hirace=race(write-write,inter-block,48,52) scord=race(write-write,inter-block,48,52) | a block takes vertices of its own partition by an atomic of block scope, thieves take them as well; BARRACUDA knows no scopes of atomics
// race RACE_2: ptx=race(write-write,inter-block,48,52)+race(write-write,inter-block,52,52) barracuda=none hirace=race(write-write,inter-block,48,52)+lines(48,52) scord=race(write-write,inter-block,52,52)+lines(48,52) | thieves take vertices by an atomic of block scope; BARRACUDA knows no scopes of atomics
// race RACE_3: ptx=race(write-write,inter-block,83,77) barracuda=none hirace=race(write-write,inter-block,83,77) scord=race(write-write,inter-block,83,77) | colours are set by an atomic of block scope and looked at from other blocks; BARRACUDA knows no scopes of atomics
// race RACE_4: ptx=race(write-write,inter-block,83,77)+race(write-write,inter-block,77,77) barracuda=none hirace=race(write-write,inter-block,83,77)+lines(83,77) scord=race(write-write,inter-block,77,77)+lines(83,77) | colours of other blocks' vertices are looked at by an atomic of block scope; BARRACUDA knows no scopes of atomics
// race RACE_5: ptx=race(write-write,inter-block,87,87) barracuda=none hirace=race(write-write,inter-block,87,87) scord=race(write-write,inter-block,87,87) | coloured vertices are counted by an atomic of block scope; BARRACUDA knows no scopes of atomics
// race RACE_6: ptx=race(write-write,inter-block,88,88) barracuda=none hirace=race(write-write,inter-block,88,88) scord=race(write-write,inter-block,88,88) | the greatest colour is found by an atomic of block scope; BARRACUDA knows no scopes of atomics
#include <cstdio>

const int BLOCKS = 4, THREADS = 64, VERTICES = 768, PARTITION = VERTICES / BLOCKS, EACH = 3;

#ifdef RACE_1
#define own_add atomicAdd_block
#else
#define own_add atomicAdd
#endif
#ifdef RACE_2
#define steal_add atomicAdd_block
#else
#define steal_add atomicAdd
#endif
#ifdef RACE_3
#define colour_exch atomicExch_block
#else
#define colour_exch atomicExch
#endif
#ifdef RACE_4
#define colour_look atomicAdd_block
#else
#define colour_look atomicAdd
#endif
#ifdef RACE_5
#define count_add atomicAdd_block
#else
#define count_add atomicAdd
#endif
#ifdef RACE_6
#define most_max atomicMax_block
#else
#define most_max atomicMax
#endif

// Of each vertex the neighbours with lower numbers; how many vertices of a partition are taken; colours from 1.
__device__ unsigned lower[VERTICES][EACH], taken[BLOCKS], colour[VERTICES], coloured, most;

// The first vertex of what the block does next; VERTICES if nothing is left.
__device__ unsigned take() {
    unsigned at = own_add(&taken[blockIdx.x], THREADS);
    if (at < PARTITION) return blockIdx.x * PARTITION + at;
    for (int i = 1; i < BLOCKS; i++) {
        int victim = (blockIdx.x + i) % BLOCKS;
        at = steal_add(&taken[victim], THREADS);
        if (at < PARTITION) return victim * PARTITION + at;
    }
    return VERTICES;
}

// One thread takes for all of its block.
__device__ unsigned next_vertices() {
    __shared__ unsigned begin;
    __syncthreads();
    if (threadIdx.x == 0) begin = take();
    __syncthreads();
    return begin;
}

// Every vertex gets the least colour that no neighbour with a lower number has. Where one has none yet, the next launch sees to it.
__global__ void colour_vertices() {
    unsigned done = 0, greatest = 0;
    for (unsigned begin = next_vertices(); begin < VERTICES; begin = next_vertices()) {
        unsigned vertex = begin + threadIdx.x;
        unsigned used = 1;
        bool waits = false;
        for (int e = 0; e < EACH && !waits; e++) {
            unsigned neighbour = lower[vertex][e];
            if (neighbour == vertex) continue;
            unsigned its = colour_look(&colour[neighbour], 0);
            if (its == 0) waits = true;
            used |= 1u << its;
        }
        if (!waits) {
            unsigned mine = __ffs(~used) - 1;
            if (colour_exch(&colour[vertex], mine) == 0) done++;
            if (mine > greatest) greatest = mine;
        }
    }
    count_add(&coloured, done);
    most_max(&most, greatest);
}

int main() {
    static unsigned edges[VERTICES][EACH], expected[VERTICES], got[VERTICES];
    unsigned seed = 1, greatest = 0, counts[2] = {};
    for (unsigned v = 0; v < VERTICES; v++) {
        unsigned used = 1;
        for (int e = 0; e < EACH; e++) {
            seed = seed * 1664525 + 1013904223;
            edges[v][e] = v == 0 || (seed >> 8) % 4 == 0 ? v : (seed >> 10) % v;
            if (edges[v][e] != v) used |= 1u << expected[edges[v][e]];
        }
        while (used >> expected[v] & 1) expected[v]++;
        if (expected[v] > greatest) greatest = expected[v];
    }
    cudaMemcpyToSymbol(lower, edges, sizeof(edges));
    void *starts = nullptr;
    cudaGetSymbolAddress(&starts, taken);
    for (bool left = true; left;) {
        cudaMemset(starts, 0, sizeof(taken));
        colour_vertices<<<BLOCKS, THREADS>>>();
        if (cudaMemcpyFromSymbol(got, colour, sizeof(got)) != cudaSuccess) return 1;
        left = false;
        for (int v = 0; v < VERTICES; v++) left |= got[v] == 0;
    }
    cudaMemcpyFromSymbol(&counts[0], coloured, sizeof(unsigned));
    cudaMemcpyFromSymbol(&counts[1], most, sizeof(unsigned));
    for (int v = 0; v < VERTICES; v++) {
        if (got[v] != expected[v]) {
            printf("vertex %d: colour %u instead of %u\n", v, got[v], expected[v]);
            return 1;
        }
    }
    if (counts[0] != VERTICES || counts[1] != greatest) {
        printf("%u vertices with %u colours instead of %d with %u\n", counts[0], counts[1], VERTICES, greatest);
        return 1;
    }
    return 0;
}
