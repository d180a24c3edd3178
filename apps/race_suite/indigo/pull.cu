// variants: DATA=int,long SCOPE=thread,warp,block NEIGHBOURS=forward,last
// race: ptx=none barracuda=none hirace=none scord=none | every vertex sums up what its neighbours have, which nobody writes
// race BUG_ATOMIC: SCOPE=block ptx=race(write-read/write-write,intra-block,21,21) barracuda=race(write-read/write-write,intra-block,21,21) hirace=race(write-read/write-write,intra-warp/intra-block,21,21) scord=none | threads add to the block's sum by load, add and store; ScoRD does not look at shared memory
// race BUG_SYNC: SCOPE=block ptx=race(write-read,intra-block,23,28) barracuda=race(write-read,intra-block,23,28) hirace=race(write-read,intra-warp/intra-block,23,28) scord=none | no barrier before the block's sum is read; ScoRD does not look at shared memory
// race BUG_BOUNDS: fault=yes ptx=none barracuda=none hirace=none scord=none | one vertex too many is looked at: the read past the end of the table is an error, and no race
#include "graphs.h"

__global__ void pull(int nodes, const int *begin, const int *target, const Data *from, Data *to) {
    __shared__ Data all;
    Share share = my_share();
    for (int v = share.unit; v < vertex_end(nodes); v += share.units) {
        int edges = edge_count(begin, v);
        Data sum = 0;
        for (int i = share.part; i < edges; i += share.parts) sum += from[target[edge(begin, v, i)]];
        if (SCOPE == warp) {
            for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
        } else if (SCOPE == block) {
            if (share.part == 0) all = 0;
            __syncthreads();
#ifdef BUG_ATOMIC
            all = all + sum;
#else
            atomicAdd(&all, sum);
#endif
#ifndef BUG_SYNC
            __syncthreads();
#endif
            if (share.part == 0) sum = all;
            __syncthreads();
        }
        if (share.part == 0) to[v] = sum;
    }
}

int main(int count, char **arguments) {
    Graph graph = chosen_graph(count, arguments);
    int *begin = upload(graph.begin), *target = upload(graph.target), wrong = 0;
    Array<Data> weights(graph.nodes);
    for (int v = 0; v < graph.nodes; v++) weights[v] = weight(v);
    Data *from = upload(weights), *to = upload(Array<Data>(graph.nodes));
    pull<<<BLOCKS, THREADS>>>(graph.nodes, begin, target, from, to);
    auto got = download(to, graph.nodes);
    for (int v = 0; v < graph.nodes; v++) {
        Data expected = 0;
        for (int i = 0; i < edge_count(graph.begin.at, v); i++) {
            expected += weight(graph.target[edge(graph.begin.at, v, i)]);
        }
        wrong |= verdict("sum", got[v], expected);
    }
    return wrong;
}
