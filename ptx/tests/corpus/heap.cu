// nvcc: -ptx -arch=compute_75
#include <cassert>
#include <cuda/barrier>
#include <cuda/pipeline>
__global__ void barriers(int *o) {
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    if (threadIdx.x == 0)
        init(&b, blockDim.x);
    __syncthreads();
    auto token = b.arrive();
    b.wait(std::move(token));
    o[threadIdx.x] = 1;
    b.arrive_and_wait();
}
struct Node {
    Node *next;
    int value;
};
__device__ __noinline__ Node *walk(Node *n, int k) {
    while (k-- && n)
        n = n->next;
    return n;
}
__global__ void __launch_bounds__(128, 2) heap(int **out, Node *n, int k) {
    int *p = (int *)malloc(64);
    if (p) {
        p[0] = 3;
        out[threadIdx.x] = p;
        free(out[1]);
    }
    assert(k > 2);
    n = walk(n, k);
    if (n)
        n->value = k;
    memcpy(out, n, 64);
    memset(n, 0, 33);
}
