// nvcc program:
// Managed memory, a managed variable, mapped and registered host memory: one address on both sides.
#include <vector>

#include "check.h"

__managed__ int rounds = 0;
__device__ unsigned long long total;
__constant__ int weights[4];

struct Node {
    int value;
    Node *next;
};

__global__ void walk(Node *node, int *mapped, const int *registered) {
    unsigned long long sum = 0;
    for (; node != nullptr; node = node->next) sum += node->value;
    total = sum;
    rounds += 1;
    mapped[0] = int(sum) + weights[3] + registered[1];
}

int main() {
    const int n = 100;
    Node *nodes;
    CHECK(cudaMallocManaged(&nodes, n * sizeof(Node)));
    unsigned long long want = 0, got = 0;
    for (int i = 0; i < n; i++) {
        nodes[i] = {i * i, i + 1 < n ? &nodes[i + 1] : nullptr};
        want += i * i;
    }
    int table[4] = {1, 2, 3, 4};
    CHECK(cudaMemcpyToSymbol(weights, table, sizeof table));
    int *mapped, *mapped_there, *registered_there;
    CHECK(cudaHostAlloc(&mapped, sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&mapped_there, mapped, 0));
    std::vector<int> plain = {10, 20};
    CHECK(cudaHostRegister(plain.data(), plain.size() * sizeof(int), cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&registered_there, plain.data(), 0));
    for (int round = 1; round <= 3; round++) {
        walk<<<1, 1>>>(nodes, mapped_there, registered_there);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        EXPECT("rounds", rounds, round);
        EXPECT("mapped", mapped[0], int(want) + 4 + 20);
    }
    CHECK(cudaMemcpyFromSymbol(&got, total, sizeof got));
    EXPECT("total", got, want);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, nodes));
    EXPECT("kind of memory", attributes.type, cudaMemoryTypeManaged);
    CHECK(cudaHostUnregister(plain.data()));
    CHECK(cudaFreeHost(mapped));
    CHECK(cudaFree(nodes));
    return 0;
}
