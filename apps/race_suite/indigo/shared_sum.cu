// variants: DATA=int,long SCOPE=warp,block NEIGHBOURS=forward,reverse,first,last
// race: ptx=none barracuda=none hirace=none scord=none | warps or blocks sum up their vertices' edges in shared memory and add to the total by atomics
// race BUG_SYNC: SCOPE=warp ptx=race(write-read,intra-warp/divergence,31,31) barracuda=none hirace=race(write-read,intra-warp,31,31) scord=none | no __syncwarp() ends a step of the tree; BARRACUDA has warps in lockstep, ScoRD does not look at shared memory
// race BUG_SYNC: SCOPE=block ptx=race(write-read,intra-block,31,31) barracuda=race(write-read,intra-block,31,31) hirace=race(write-read,intra-block,31,31) scord=none | no __syncthreads() ends a step of the tree; ScoRD does not look at shared memory
// race BUG_ATOMIC: ptx=race(write-read/write-write,inter-block,38,38) barracuda=race(write-read/write-write,inter-block,38,38) hirace=race(write-read/write-write,intra-block/inter-block,38,38) scord=race(write-read/write-write,intra-block/inter-block,38,38) | the sums are added to the total by load, add and store
// race BUG_BOUNDS: fault=yes ptx=none barracuda=none hirace=none scord=none | one vertex too many is looked at: the read past the end of the table is an error, and no race
#include "graphs.h"

const int WIDE = 128;

__device__ void meet() {
    if (SCOPE == warp) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}

__global__ void sum_up(int nodes, const int *begin, const int *target, Data *total) {
    __shared__ Data part[WIDE];
    Share share = my_share();
    int t = threadIdx.x;
    Data sum = 0;
    for (int v = share.unit; v < vertex_end(nodes); v += share.units) {
        int edges = edge_count(begin, v);
        for (int i = share.part; i < edges; i += share.parts) sum += weight(target[edge(begin, v, i)]);
    }
    part[t] = sum;
    meet();
    for (int half = share.parts / 2; half > 0; half /= 2) {
        if (share.part < half) part[t] = part[t] + part[t + half];
#ifndef BUG_SYNC
        meet();
#endif
    }
    if (share.part != 0) return;
#ifdef BUG_ATOMIC
    *total = *total + part[t];
#else
    atomicAdd(total, part[t]);
#endif
}

int main(int count, char **arguments) {
    Graph graph = chosen_graph(count, arguments);
    int *begin = upload(graph.begin), *target = upload(graph.target);
    Data *total = upload(Array<Data>(1)), expected = 0;
    sum_up<<<BLOCKS, WIDE>>>(graph.nodes, begin, target, total);
    for (int v = 0; v < graph.nodes; v++) {
        for (int i = 0; i < edge_count(graph.begin.at, v); i++) {
            expected += weight(graph.target[edge(graph.begin.at, v, i)]);
        }
    }
    return verdict("total", download(total, 1)[0], expected);
}
