// Graphs, captured and put together by hand.
#include "check.h"

__global__ void add(int *x, int n, int what) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += what;
}

static int *device, host[100];
static cudaStream_t stream;

static void captured() {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t nodes[2];
    size_t count = 0;
    cudaStreamCaptureStatus status;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(device, 0, 400, stream));
    add<<<1, 100, 0, stream>>>(device, 100, 2);
    OK(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(host, device, 400, cudaMemcpyDeviceToHost));
    CHECK(host[99] == 2);
    OK(cudaGraphGetNodes(graph, nullptr, &count));
    CHECK(count == 2);
    OK(cudaGraphGetNodes(graph, nodes, &count));
    for (cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type;
        OK(cudaGraphNodeGetType(node, &type));
        if (type != cudaGraphNodeTypeKernel) continue;
        cudaKernelNodeParams launch;
        OK(cudaGraphKernelNodeGetParams(node, &launch));
        CHECK(launch.blockDim.x == 100 && launch.func == (void *)add);
        launch.blockDim.x = 50;
        OK(cudaGraphExecKernelNodeSetParams(exec, node, &launch));
    }
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(host, device, 400, cudaMemcpyDeviceToHost));
    CHECK(host[49] == 2 && host[50] == 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

static void by_hand() {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t clear, kernel, copy, fill;
    int what = 4, n = 100;
    void *arguments[] = {&device, &n, &what};
    cudaKernelNodeParams launch = {}, same;
    launch.func = (void *)add;
    launch.gridDim = 1;
    launch.blockDim = 100;
    launch.kernelParams = arguments;
    cudaMemsetParams zeros = {};
    zeros.dst = device;
    zeros.elementSize = 1;
    zeros.width = 400;
    zeros.height = 1;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zeros));
    OK(cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &launch));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, device, 400, cudaMemcpyDeviceToHost));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(host[99] == 4);
    OK(cudaGraphKernelNodeGetParams(kernel, &same));
    CHECK(same.func == launch.func && same.gridDim.x == 1);
    what = 9;
    OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(host[99] == 9);
    cudaMemcpy3DParms box;
    OK(cudaGraphMemcpyNodeGetParams(copy, &box));
    CHECK(box.extent.width == 400 && box.dstPtr.ptr == host && box.srcPtr.ptr == device);
    cudaGraphNodeParams any = {};
    any.type = cudaGraphNodeTypeMemset;
    any.memset.dst = device;
    any.memset.elementSize = 4;
    any.memset.value = 77;
    any.memset.width = 100;
    any.memset.height = 1;
    OK(cudaGraphAddNode(&fill, graph, &copy, nullptr, 1, &any));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(host, device, 400, cudaMemcpyDeviceToHost));
    CHECK(host[99] == 77);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

int main() {
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&device, 400));
    captured();
    by_hand();
    return wrong != 0;
}
