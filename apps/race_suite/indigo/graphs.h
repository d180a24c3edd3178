// What the programs of this folder share: six small graphs made from a fixed seed, and who looks at which vertex and edge.
//
// Graphs by number: 0 DAG with 5 vertices and 5 edges, 1 DAG 100/200, 2 DAG 200/400, 3 counter-DAG 5/5, 4 counter-DAG 200/1000,
// 5 power law 200/1000. The edges of a DAG lead to vertices with higher numbers, those of a counter-DAG to lower ones.
#pragma once
#include <cstdio>
#include <cstdlib>

// Names that switches may have for values.
enum { thread, warp, block };
enum { forward, reverse, first, last };
enum { along, against };

#ifndef DATA
#define DATA int
#endif
#ifndef SCOPE
#define SCOPE thread
#endif
#ifndef NEIGHBOURS
#define NEIGHBOURS forward
#endif
#ifndef CONDITION
#define CONDITION 0
#endif
#ifndef FLOW
#define FLOW along
#endif

// Four bytes for DATA=int, eight for DATA=long: all atomics take both.
template <int bytes> struct Unsigned;
template <> struct Unsigned<4> {
    using Type = unsigned;
};
template <> struct Unsigned<8> {
    using Type = unsigned long long;
};
using Data = Unsigned<sizeof(DATA)>::Type;

const int BLOCKS = 4, THREADS = 64;

// Zeros at first, and never freed: programs are short.
template <class T> struct Array {
    int count;
    T *at;
    explicit Array(int count) : count(count), at(static_cast<T *>(calloc(count, sizeof(T)))) {}
    T &operator[](int i) const { return at[i]; }
};

// The edges of vertex v lead to target[begin[v]] .. target[begin[v + 1] - 1].
struct Graph {
    int nodes, edges;
    Array<int> begin, target;
};

inline Graph make_graph(int which) {
    const int sizes[6][2] = {{5, 5}, {100, 200}, {200, 400}, {5, 5}, {200, 1000}, {200, 1000}};
    int nodes = sizes[which][0], edges = sizes[which][1];
    unsigned seed = 4 + which;
    auto draw = [&](int below) {
        seed = seed * 1664525 + 1013904223;
        return int((seed >> 8) % below);
    };
    Array<bool> there(nodes * nodes);
    for (int made = 0; made < edges;) {
        int from = draw(nodes), to = draw(nodes);
        // The least of three: few vertices get most of the edges.
        for (int i = 0; which == 5 && i < 2; i++) {
            int other = draw(nodes);
            if (other < to) to = other;
        }
        bool turned = which < 5 && (from < to) != (which < 3);
        bool &edge = there[turned ? to * nodes + from : from * nodes + to];
        if (from == to || edge) continue;
        edge = true;
        made++;
    }
    Graph graph{nodes, edges, Array<int>(nodes + 1), Array<int>(edges)};
    int made = 0;
    for (int from = 0; from < nodes; from++) {
        for (int to = 0; to < nodes; to++) {
            if (there[from * nodes + to]) graph.target[made++] = to;
        }
        graph.begin[from + 1] = made;
    }
    return graph;
}

inline Graph chosen_graph(int count, char **arguments) {
    int which = count > 1 ? atoi(arguments[1]) : 2;
    return make_graph(which < 0 || which > 5 ? 2 : which);
}

template <class T> T *upload(const Array<T> &values) {
    T *there = nullptr;
    cudaMalloc(&there, values.count * sizeof(T));
    cudaMemcpy(there, values.at, values.count * sizeof(T), cudaMemcpyHostToDevice);
    return there;
}

template <class T> Array<T> download(const T *there, int count) {
    Array<T> values(count);
    if (cudaMemcpy(values.at, there, count * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) exit(1);
    return values;
}

// What a vertex weighs: never 0, and of vertices in a row neither rising nor falling.
__host__ __device__ inline Data weight(int vertex) {
    return unsigned(vertex + 1) * 2654435761u >> 20 | 1;
}

// About half of all vertices or edges for CONDITION=1, all for 0.
__host__ __device__ inline bool meets(int one, int other) {
    return CONDITION == 0 || ((one * 31 + other) * 2654435761u >> 16) % 2 == 0;
}

// Whose turn a vertex is: a thread's, a warp's or a block's, of which each thread takes every parts-th edge.
struct Share {
    int unit, units, part, parts;
};

__device__ inline Share my_share() {
    int t = threadIdx.x, threads = blockDim.x, index = blockIdx.x * threads + t, all = gridDim.x * threads;
    if (SCOPE == thread) return {index, all, 0, 1};
    if (SCOPE == warp) return {index / 32, all / 32, t % 32, 32};
    return {int(blockIdx.x), int(gridDim.x), t, threads};
}

// How many of a vertex's edges are looked at, and which is the i-th of them.
__host__ __device__ inline int edge_count(const int *begin, int vertex) {
    int count = begin[vertex + 1] - begin[vertex];
    return (NEIGHBOURS == first || NEIGHBOURS == last) && count > 1 ? 1 : count;
}

__host__ __device__ inline int edge(const int *begin, int vertex, int i) {
    return NEIGHBOURS == reverse || NEIGHBOURS == last ? begin[vertex + 1] - 1 - i : begin[vertex] + i;
}

// The vertices, or with BUG_BOUNDS one too many.
__host__ __device__ inline int vertex_end(int nodes) {
#if defined(BUG_BOUNDS) && defined(__CUDA_ARCH__)
    return nodes + 1;
#else
    return nodes;
#endif
}

inline int verdict(const char *what, unsigned long long got, unsigned long long expected) {
    if (got != expected) printf("%s: %llu instead of %llu\n", what, got, expected);
    return got != expected;
}
