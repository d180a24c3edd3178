// variants: DATA=int,long SCOPE=thread,warp CONDITION=0,1
// race: ptx=none barracuda=none hirace=none scord=none | slots of a list are drawn by atomics, by every thread or by one lane for its warp
// race BUG_ATOMIC: graphs=1,2,4,5 ptx=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,11,11)+lines(11,38) barracuda=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,11,11)+lines(11,38) hirace=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,11,11)+lines(11,38) scord=race(write-read/write-write,intra-block/inter-block,11,11)+lines(11,38) | slots are drawn by load, add and store, and two vertices may get the same
// race BUG_GUARD: graphs=1,2,4,5 ptx=race(write-read,intra-warp/divergence/intra-block/inter-block,15,14) barracuda=race(write-read,intra-warp/divergence/intra-block/inter-block,15,14) hirace=race(write-read,intra-warp/divergence/intra-block/inter-block,15,14) scord=race(write-read,intra-block/inter-block,15,14) | a plain load of the list's length stands as a guard before the atomic
// race BUG_BOUNDS: fault=yes ptx=none barracuda=none hirace=none scord=none | one vertex too many is looked at: the read past the end of the table is an error, and no race
#include "graphs.h"

// The first of so many slots.
__device__ int draw(int *length, int slots, int most) {
#if defined(BUG_ATOMIC)
    int at = *length; *length = at + slots;
    return at;
#elif defined(BUG_GUARD)
    if (*length >= most) return 0;
    return atomicAdd(length, slots);
#else
    return atomicAdd(length, slots);
#endif
}

__host__ __device__ bool is_wanted(const int *begin, int vertex) {
    return begin[vertex + 1] > begin[vertex] && meets(vertex, vertex);
}

// Vertices that have edges go into the list.
__global__ void fill(int nodes, const int *begin, Data *list, int *length) {
    int lane = threadIdx.x % 32, all = gridDim.x * blockDim.x;
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v - lane < vertex_end(nodes); v += all) {
        bool wanted = v < vertex_end(nodes) && is_wanted(begin, v);
        int slot = 0;
        if (SCOPE == warp) {
            unsigned who = __ballot_sync(0xffffffff, wanted);
            if (lane == 0 && who != 0) slot = draw(length, __popc(who), nodes);
            slot = __shfl_sync(0xffffffff, slot, 0) + __popc(who & ((1u << lane) - 1));
        } else if (wanted) {
            slot = draw(length, 1, nodes);
        }
        if (wanted) list[slot] = v;
    }
}

int main(int count, char **arguments) {
    Graph graph = chosen_graph(count, arguments);
    int *begin = upload(graph.begin), *length = upload(Array<int>(1)), wrong = 0;
    Data *list = upload(Array<Data>(graph.nodes));
    fill<<<BLOCKS, THREADS>>>(graph.nodes, begin, list, length);
    auto got = download(list, graph.nodes);
    Array<int> times(graph.nodes);
    int expected = 0;
    for (int v = 0; v < graph.nodes; v++) expected += is_wanted(graph.begin.at, v);
    if (verdict("vertices", download(length, 1)[0], expected)) return 1;
    for (int i = 0; i < expected; i++) times[got[i]]++;
    for (int v = 0; v < graph.nodes; v++) wrong |= verdict("times", times[v], is_wanted(graph.begin.at, v));
    return wrong;
}
