#include <cstdio>

struct Node {
    int key;
    int below;
};

class Stack {
    Node *nodes;
    int *top;

  public:
    __device__ Stack(Node *n, int *t) : nodes(n), top(t) {}

    // Says what was on top before.
    __device__ int push(int node, int key) {
        nodes[node].key = key;
        return atomicExch(top, node);
    }

    __device__ int peek() {
        int node;
        while ((node = atomicAdd(top, 0)) < 0) {
        }
        __threadfence();
        return nodes[node].key;
    }
};

__global__ void stack_up(Node *nodes, int *top, int *out) {
    Stack stack(nodes, top);
    if (blockIdx.x < 2) {
        nodes[blockIdx.x].below = stack.push(blockIdx.x, 60 + blockIdx.x);
    } else {
        *out = stack.peek();
    }
}

int main() {
    Node *nodes;
    int *ints, peeked = 0;
    cudaMalloc(&nodes, 2 * sizeof(Node));
    cudaMalloc(&ints, 2 * sizeof(int));
    cudaMemset(nodes, 0, 2 * sizeof(Node));
    cudaMemset(ints, 0xff, 2 * sizeof(int));
    stack_up<<<3, 1>>>(nodes, ints, ints + 1);
    cudaMemcpy(&peeked, ints + 1, sizeof(int), cudaMemcpyDeviceToHost);
    if (peeked != 60 && peeked != 61) {
        std::printf("on top: %d\n", peeked);
        return 1;
    }
    return 0;
}
