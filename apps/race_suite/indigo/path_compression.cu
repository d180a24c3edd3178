// variants: DATA=int,long SCOPE=thread,warp,block CONDITION=0,1
// race: ptx=none barracuda=none hirace=none scord=none | trees are linked, climbed and flattened by atomics
// race BUG_ATOMIC: graphs=1,2,4,5 ptx=race(write-write,intra-warp/divergence/intra-block/inter-block,22,9)+lines(22,9,41) barracuda=race(write-write,intra-warp/divergence/intra-block/inter-block,22,9)+lines(22,9,41) hirace=race(write-write,intra-warp/divergence/intra-block/inter-block,22,9)+lines(22,9,41) scord=race(write-write,intra-block/inter-block,22,9)+lines(22,9,41) | trees are flattened by a plain store beside the atomics that climb and link them
// race BUG_GUARD: graphs=1,2,4,5 ptx=race(write-read,intra-warp/divergence/intra-block/inter-block,9,16)+lines(9,16,41,24) barracuda=race(write-read,intra-warp/divergence/intra-block/inter-block,9,16)+lines(9,16,41,24) hirace=race(write-read,intra-warp/divergence/intra-block/inter-block,9,16)+lines(9,16,41,24) scord=race(write-read,intra-block/inter-block,9,16)+lines(9,16,41,24) | a plain load asks whether a vertex is a root before the atomics do
// race BUG_BOUNDS: fault=yes ptx=none barracuda=none hirace=none scord=none | one vertex too many is looked at: the read past the end of the table is an error, and no race
#include "graphs.h"

__device__ Data look(Data *parent) {
    return atomicAdd(parent, 0);
}

// The root of a tree; whoever was on the way points further up from then on.
__device__ Data root(Data *parent, Data vertex) {
    while (true) {
#ifdef BUG_GUARD
        if (parent[vertex] == vertex) return vertex;
#endif
        Data up = look(&parent[vertex]);
        if (up == vertex) return vertex;
        Data above = look(&parent[up]);
#ifdef BUG_ATOMIC
        parent[vertex] = above;
#else
        atomicMin(&parent[vertex], above);
#endif
        vertex = above;
    }
}

__global__ void connect(int nodes, const int *begin, const int *target, Data *parent) {
    Share share = my_share();
    for (int v = share.unit; v < vertex_end(nodes); v += share.units) {
        int edges = edge_count(begin, v);
        for (int i = share.part; i < edges; i += share.parts) {
            Data one = v, other = target[edge(begin, v, i)];
            if (!meets(v, other)) continue;
            for (bool apart = true; apart;) {
                one = root(parent, one);
                other = root(parent, other);
                Data high = max(one, other), low = min(one, other);
                Data was = high == low ? high : atomicMin(&parent[high], low);
                // Unless the higher one was a root, what it pointed at belongs to the same tree.
                apart = was != high;
                one = was;
                other = low;
            }
        }
    }
}

static Data find(const Array<Data> &parent, Data vertex) {
    while (parent[vertex] != vertex) vertex = parent[vertex];
    return vertex;
}

int main(int count, char **arguments) {
    Graph graph = chosen_graph(count, arguments);
    int *begin = upload(graph.begin), *target = upload(graph.target), wrong = 0;
    Array<Data> expected(graph.nodes);
    for (int v = 0; v < graph.nodes; v++) expected[v] = v;
    Data *parent = upload(expected);
    connect<<<BLOCKS, THREADS>>>(graph.nodes, begin, target, parent);
    for (int v = 0; v < graph.nodes; v++) {
        for (int i = graph.begin[v]; i < graph.begin[v + 1]; i++) {
            if (!meets(v, graph.target[i])) continue;
            Data one = find(expected, v), other = find(expected, graph.target[i]);
            expected[one > other ? one : other] = one > other ? other : one;
        }
    }
    auto got = download(parent, graph.nodes);
    for (int v = 0; v < graph.nodes; v++) wrong |= verdict("root", find(got, v), find(expected, v));
    return wrong;
}
