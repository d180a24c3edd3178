// race: ptx=none barracuda=none hirace=none scord=none | blocks take edges of their own partition and steal from others by atomics of device scope; trees are linked and climbed by atomics as well
// race RACE_1: ptx=race(write-write,inter-block,42,46) barracuda=none hirace=race(write-write,inter-block,42,46) scord=race(write-write,inter-block,42,46) | a block takes edges of its own partition by an atomic of block scope, thieves take them as well; BARRACUDA knows no scopes of atomics
// race RACE_2: ptx=race(write-write,inter-block,42,46)+race(write-write,inter-block,46,46) barracuda=none hirace=race(write-write,inter-block,42,46)+lines(42,46) scord=race(write-write,inter-block,46,46)+lines(42,46) | thieves take edges by an atomic of block scope; BARRACUDA knows no scopes of atomics
// race RACE_3: ptx=race(write-write,inter-block,78,63)+lines(78,63) barracuda=none hirace=race(write-write,inter-block,78,63)+lines(78,63) scord=race(write-write,inter-block,78,63)+lines(78,63) | trees are linked by an atomic of block scope and climbed from other blocks; BARRACUDA knows no scopes of atomics
// race RACE_4: ptx=race(write-write,inter-block,63,63)+lines(78,63) barracuda=none hirace=race(write-write,inter-block,63,63)+lines(78,63) scord=race(write-write,inter-block,63,63)+lines(78,63) | trees are climbed by an atomic of block scope; BARRACUDA knows no scopes of atomics
// race RACE_5: ptx=race(write-write,inter-block,86,86) barracuda=none hirace=race(write-write,inter-block,86,86) scord=race(write-write,inter-block,86,86) | links are counted by an atomic of block scope; BARRACUDA knows no scopes of atomics
#include <cstdio>

const int BLOCKS = 4, THREADS = 64, VERTICES = 512, EDGES = 768, PARTITION = EDGES / BLOCKS;

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
#define link_min atomicMin_block
#else
#define link_min atomicMin
#endif
#ifdef RACE_4
#define climb_look atomicAdd_block
#else
#define climb_look atomicAdd
#endif
#ifdef RACE_5
#define count_add atomicAdd_block
#else
#define count_add atomicAdd
#endif

// Edges as pairs of vertices; how many edges of a partition are taken; each vertex points at a lower one, or is a root.
__device__ unsigned edges[EDGES][2], taken[BLOCKS], parent[VERTICES], links;

// The first edge of what the block does next; EDGES if nothing is left.
__device__ unsigned take() {
    unsigned at = own_add(&taken[blockIdx.x], THREADS);
    if (at < PARTITION) return blockIdx.x * PARTITION + at;
    for (int i = 1; i < BLOCKS; i++) {
        int victim = (blockIdx.x + i) % BLOCKS;
        at = steal_add(&taken[victim], THREADS);
        if (at < PARTITION) return victim * PARTITION + at;
    }
    return EDGES;
}

// One thread takes for all of its block.
__device__ unsigned next_edges() {
    __shared__ unsigned begin;
    __syncthreads();
    if (threadIdx.x == 0) begin = take();
    __syncthreads();
    return begin;
}

__device__ unsigned root(unsigned vertex) {
    while (true) {
        unsigned up = climb_look(&parent[vertex], 0);
        if (up == vertex) return vertex;
        vertex = up;
    }
}

__global__ void connect() {
    unsigned mine = 0;
    for (unsigned begin = next_edges(); begin < EDGES; begin = next_edges()) {
        unsigned edge = begin + threadIdx.x;
        unsigned one = edges[edge][0], other = edges[edge][1];
        for (bool apart = true; apart;) {
            one = root(one);
            other = root(other);
            unsigned high = max(one, other), low = min(one, other);
            unsigned was = high == low ? high : link_min(&parent[high], low);
            if (high != low && was == high) mine++;
            // Unless the higher one was a root, what it pointed at belongs to the same tree.
            apart = was != high;
            one = was;
            other = low;
        }
    }
    count_add(&links, mine);
}

static unsigned find(const unsigned *up, unsigned vertex) {
    while (up[vertex] != vertex) vertex = up[vertex];
    return vertex;
}

int main() {
    static unsigned pairs[EDGES][2], up[VERTICES], got[VERTICES];
    unsigned seed = 1, expected = 0, counted = 0;
    for (unsigned v = 0; v < VERTICES; v++) up[v] = v;
    cudaMemcpyToSymbol(parent, up, sizeof(up));
    for (int e = 0; e < EDGES; e++) {
        // A quarter of the vertices has few edges, so that there are some trees.
        for (int end = 0; end < 2; end++) {
            seed = seed * 1664525 + 1013904223;
            pairs[e][end] = (seed >> 8) % (e % 16 ? VERTICES * 3 / 4 : VERTICES);
        }
        unsigned one = find(up, pairs[e][0]), other = find(up, pairs[e][1]);
        if (one != other) expected++;
        up[one > other ? one : other] = one > other ? other : one;
    }
    cudaMemcpyToSymbol(edges, pairs, sizeof(pairs));
    connect<<<BLOCKS, THREADS>>>();
    if (cudaMemcpyFromSymbol(got, parent, sizeof(got)) != cudaSuccess) return 1;
    cudaMemcpyFromSymbol(&counted, links, sizeof(counted));
    for (unsigned v = 0; v < VERTICES; v++) {
        if (find(got, v) != find(up, v)) {
            printf("vertex %u: root %u instead of %u\n", v, find(got, v), find(up, v));
            return 1;
        }
    }
    if (counted != expected) printf("%u links instead of %u\n", counted, expected);
    return counted != expected;
}
