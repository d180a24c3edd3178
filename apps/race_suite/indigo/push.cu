// variants: DATA=int,long SCOPE=thread,warp,block CONDITION=0,1
// race: ptx=none barracuda=none hirace=none scord=none | every vertex gives its weight to its neighbours, which keep the greatest by atomics
// race BUG_ATOMIC: graphs=1,2,4,5 ptx=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,16,16) barracuda=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,16,16) hirace=race(write-read/write-write,intra-warp/divergence/intra-block/inter-block,16,16) scord=race(write-read/write-write,intra-block/inter-block,16,16) | the neighbours keep the greatest by load, comparison and store
// race BUG_GUARD: graphs=1,2,4,5 ptx=race(write-read,intra-warp/divergence/intra-block/inter-block,19,18) barracuda=race(write-read,intra-warp/divergence/intra-block/inter-block,19,18) hirace=race(write-read,intra-warp/divergence/intra-block/inter-block,19,18) scord=race(write-read,intra-block/inter-block,19,18) | a plain load stands as a guard before the atomic
// race BUG_BOUNDS: fault=yes ptx=none barracuda=none hirace=none scord=none | one vertex too many is looked at: the read past the end of the table is an error, and no race
#include "graphs.h"

__global__ void push(int nodes, const int *begin, const int *target, Data *greatest) {
    Share share = my_share();
    for (int v = share.unit; v < vertex_end(nodes); v += share.units) {
        int edges = edge_count(begin, v);
        for (int i = share.part; i < edges; i += share.parts) {
            int n = target[edge(begin, v, i)];
            if (!meets(v, n)) continue;
#if defined(BUG_ATOMIC)
            if (greatest[n] < weight(v)) greatest[n] = weight(v);
#elif defined(BUG_GUARD)
            if (greatest[n] < weight(v)) {
                atomicMax(&greatest[n], weight(v));
            }
#else
            atomicMax(&greatest[n], weight(v));
#endif
        }
    }
}

int main(int count, char **arguments) {
    Graph graph = chosen_graph(count, arguments);
    int *begin = upload(graph.begin), *target = upload(graph.target), wrong = 0;
    Array<Data> expected(graph.nodes);
    Data *greatest = upload(expected);
    push<<<BLOCKS, THREADS>>>(graph.nodes, begin, target, greatest);
    for (int v = 0; v < graph.nodes; v++) {
        for (int i = graph.begin[v]; i < graph.begin[v + 1]; i++) {
            int n = graph.target[i];
            if (meets(v, n) && expected[n] < weight(v)) expected[n] = weight(v);
        }
    }
    auto got = download(greatest, graph.nodes);
    for (int v = 0; v < graph.nodes; v++) wrong |= verdict("weight", got[v], expected[v]);
    return wrong;
}
