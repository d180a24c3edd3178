// variants: DATA=int,long SCOPE=thread,warp,block NEIGHBOURS=forward,first
// race: ptx=none barracuda=none hirace=none scord=none | the heaviest vertex with a heavier neighbour is found by atomics
// race BUG_ATOMIC: graphs=1,2,4,5 ptx=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,20,20) barracuda=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,20,20) hirace=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,20,20) scord=race(write-read/write-write,intra-block/inter-block,20,20) | the greatest weight is found by load, comparison and store
// race BUG_GUARD: graphs=1,2,4,5 ptx=race(write-read,intra-warp/divergence/intra-block/inter-block,23,22) barracuda=race(write-read,intra-warp/divergence/intra-block/inter-block,23,22) hirace=race(write-read,intra-warp/divergence/intra-block/inter-block,23,22) scord=race(write-read,intra-block/inter-block,23,22) | a plain load of the greatest weight stands as a guard before the atomic
// race BUG_BOUNDS: fault=yes ptx=none barracuda=none hirace=none scord=none | one vertex too many is looked at: the read past the end of the table is an error, and no race
#include "graphs.h"

__global__ void find_heaviest(int nodes, const int *begin, const int *target, Data *heaviest) {
    Share share = my_share();
    for (int v = share.unit; v < vertex_end(nodes); v += share.units) {
        int edges = edge_count(begin, v);
        int wanted = 0;
        for (int i = share.part; i < edges; i += share.parts) {
            if (weight(target[edge(begin, v, i)]) > weight(v)) wanted = 1;
        }
        if (SCOPE == warp) wanted = __any_sync(0xffffffff, wanted);
        if (SCOPE == block) wanted = __syncthreads_or(wanted);
        if (!wanted || share.part != 0) continue;
#if defined(BUG_ATOMIC)
        if (*heaviest < weight(v)) *heaviest = weight(v);
#elif defined(BUG_GUARD)
        if (*heaviest < weight(v)) {
            atomicMax(heaviest, weight(v));
        }
#else
        atomicMax(heaviest, weight(v));
#endif
    }
}

int main(int count, char **arguments) {
    Graph graph = chosen_graph(count, arguments);
    int *begin = upload(graph.begin), *target = upload(graph.target);
    Data *heaviest = upload(Array<Data>(1));
    find_heaviest<<<BLOCKS, THREADS>>>(graph.nodes, begin, target, heaviest);
    Data expected = 0;
    for (int v = 0; v < graph.nodes; v++) {
        for (int i = 0; i < edge_count(graph.begin.at, v); i++) {
            int n = graph.target[edge(graph.begin.at, v, i)];
            if (weight(n) > weight(v) && weight(v) > expected) expected = weight(v);
        }
    }
    return verdict("weight", download(heaviest, 1)[0], expected);
}
