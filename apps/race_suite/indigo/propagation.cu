// variants: DATA=int,long SCOPE=thread,warp,block FLOW=along,against
// race: ptx=none barracuda=none hirace=none scord=none | the greatest weights spread along the edges or against them by atomics, launch after launch
// race BUG_ATOMIC: graphs=1,2,4,5 ptx=race(write-read,intra-warp/divergence/intra-block/inter-block,14,16)+lines(14,16) barracuda=race(write-read,intra-warp/divergence/intra-block/inter-block,14,16)+lines(14,16) hirace=race(write-read,intra-warp/divergence/intra-block/inter-block,14,16)+lines(14,16) scord=race(write-read,intra-block/inter-block,14,16)+lines(14,16) | what has spread is kept by load, comparison and store beside the atomics that look at it
// race BUG_GUARD: graphs=1,2,4,5 ptx=race(write-read,intra-warp/divergence/intra-block/inter-block,14,18)+lines(14,18,19) barracuda=race(write-read,intra-warp/divergence/intra-block/inter-block,14,18)+lines(14,18,19) hirace=race(write-read,intra-warp/divergence/intra-block/inter-block,14,18)+lines(14,18,19) scord=race(write-read,intra-block/inter-block,14,18)+lines(14,18,19) | a plain load stands as a guard before the atomic
// race BUG_BOUNDS: fault=yes ptx=none barracuda=none hirace=none scord=none | one vertex too many is looked at: the read past the end of the table is an error, and no race
#include "graphs.h"

__global__ void spread(int nodes, const int *begin, const int *target, Data *greatest, int *changed) {
    Share share = my_share();
    for (int v = share.unit; v < vertex_end(nodes); v += share.units) {
        int edges = edge_count(begin, v);
        for (int i = share.part; i < edges; i += share.parts) {
            int n = target[edge(begin, v, i)], from = FLOW == along ? v : n, to = FLOW == along ? n : v;
            Data offered = atomicAdd(&greatest[from], 0);
#if defined(BUG_ATOMIC)
            bool more = greatest[to] < offered; if (more) greatest[to] = offered;
#elif defined(BUG_GUARD)
            bool more = greatest[to] < offered;
            if (more) more = atomicMax(&greatest[to], offered) < offered;
#else
            bool more = atomicMax(&greatest[to], offered) < offered;
#endif
            if (more) atomicOr(changed, 1);
        }
    }
}

int main(int count, char **arguments) {
    Graph graph = chosen_graph(count, arguments);
    int *begin = upload(graph.begin), *target = upload(graph.target), *changed = upload(Array<int>(1)), wrong = 0;
    Array<Data> expected(graph.nodes);
    for (int v = 0; v < graph.nodes; v++) expected[v] = weight(v);
    Data *greatest = upload(expected);
    do {
        cudaMemset(changed, 0, sizeof(int));
        spread<<<BLOCKS, THREADS>>>(graph.nodes, begin, target, greatest, changed);
    } while (download(changed, 1)[0]);
    for (bool more = true; more;) {
        more = false;
        for (int v = 0; v < graph.nodes; v++) {
            for (int i = graph.begin[v]; i < graph.begin[v + 1]; i++) {
                int n = graph.target[i], from = FLOW == along ? v : n, to = FLOW == along ? n : v;
                if (expected[to] >= expected[from]) continue;
                expected[to] = expected[from];
                more = true;
            }
        }
    }
    auto got = download(greatest, graph.nodes);
    for (int v = 0; v < graph.nodes; v++) wrong |= verdict("weight", got[v], expected[v]);
    return wrong;
}
