// nvcc program:
// Work of two streams captured into a graph and launched again and again.
#include "check.h"

__global__ void increment(int *values, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += by;
}

int main() {
    const int n = 256;
    int *values, *other, *host;
    CHECK(cudaMalloc(&values, n * sizeof(int)));
    CHECK(cudaMalloc(&other, n * sizeof(int)));
    CHECK(cudaMallocHost(&host, n * sizeof(int)));
    CHECK(cudaMemset(values, 0, n * sizeof(int)));
    cudaStream_t stream, second;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    increment<<<2, 128, 0, stream>>>(values, n, 1);
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(second, fork, 0));
    CHECK(cudaMemcpyAsync(other, values, n * sizeof(int), cudaMemcpyDeviceToDevice, second));
    increment<<<2, 128, 0, second>>>(other, n, 100);
    CHECK(cudaEventRecord(join, second));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    CHECK(cudaMemcpyAsync(host, other, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int round = 1; round <= 3; round++) {
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < n; i++) EXPECT("element", host[i], 100 + round);
    }
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return 0;
}
