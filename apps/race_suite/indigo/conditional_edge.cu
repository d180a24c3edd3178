// variants: DATA=int,long SCOPE=thread,warp,block CONDITION=0,1
// race: ptx=none barracuda=none hirace=none scord=none | edges are counted by atomics
// race BUG_ATOMIC: graphs=1,2,4,5 ptx=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,15,15) barracuda=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,15,15) hirace=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,15,15) scord=race(write-read/write-write,intra-block/inter-block,15,15) | edges are counted by load, add and store
// race BUG_GUARD: graphs=1,2,4,5 ptx=race(write-read,intra-warp/divergence/intra-block/inter-block,18,17) barracuda=race(write-read,intra-warp/divergence/intra-block/inter-block,18,17) hirace=race(write-read,intra-warp/divergence/intra-block/inter-block,18,17) scord=race(write-read,intra-block/inter-block,18,17) | a plain load of the count stands as a guard before the atomic
// race BUG_BOUNDS: fault=yes ptx=none barracuda=none hirace=none scord=none | one vertex too many is looked at: the read past the end of the table is an error, and no race
#include "graphs.h"

__global__ void count_edges(int nodes, const int *begin, const int *target, Data most, Data *found) {
    Share share = my_share();
    for (int v = share.unit; v < vertex_end(nodes); v += share.units) {
        int edges = edge_count(begin, v);
        for (int i = share.part; i < edges; i += share.parts) {
            if (!meets(v, target[edge(begin, v, i)])) continue;
#if defined(BUG_ATOMIC)
            *found = *found + 1;
#elif defined(BUG_GUARD)
            if (*found < most) {
                atomicAdd(found, 1);
            }
#else
            atomicAdd(found, 1);
#endif
        }
    }
}

int main(int count, char **arguments) {
    Graph graph = chosen_graph(count, arguments);
    int *begin = upload(graph.begin), *target = upload(graph.target);
    Data *found = upload(Array<Data>(1));
    count_edges<<<BLOCKS, THREADS>>>(graph.nodes, begin, target, graph.edges, found);
    Data expected = 0;
    for (int v = 0; v < graph.nodes; v++) {
        for (int i = graph.begin[v]; i < graph.begin[v + 1]; i++) expected += meets(v, graph.target[i]);
    }
    return verdict("edges", download(found, 1)[0], expected);
}
