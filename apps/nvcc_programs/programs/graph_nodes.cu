// nvcc program: -arch=sm_90
// Nodes of graphs beyond copies and kernels: memory of a graph's own, conditions that kernels set, objects that graphs
// keep alive, pictures; by hand and captured.
#include "check.h"
#include <cstring>
#include <string>
#include <unistd.h>

#define REFUSED(call, error) EXPECT(#call, (int)(call), (int)(error))

__global__ void fill(int *x, int n, int what) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = what + i;
}
__global__ void add(int *to, const int *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}
// Halves a number, and says by the condition whether it is above one still.
__global__ void halve(int *number, int *steps, cudaGraphConditionalHandle more) {
    int value = *number / 2;
    *number = value;
    ++*steps;
    cudaGraphSetConditional(more, value > 1);
}
__global__ void choose(const int *number, cudaGraphConditionalHandle which) {
    cudaGraphSetConditional(which, *number);
}
__global__ void note(int *where, int what) { *where = what; }

static cudaStream_t stream;

static int word(const int *device) {
    int host = -1;
    CHECK(cudaMemcpyAsync(&host, device, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    return host;
}

static unsigned long long held(cudaGraphMemAttributeType which) {
    unsigned long long bytes = 1;
    CHECK(cudaDeviceGetGraphMemAttribute(0, which, &bytes));
    return bytes;
}

// Memory that a captured graph allocates and frees each time.
static void captured_memory(int *out) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *memory;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&memory, 4096, stream));
    fill<<<4, 256, 0, stream>>>(memory, 1024, 7);
    add<<<4, 256, 0, stream>>>(out, memory, 1024);
    CHECK(cudaFreeAsync(memory, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaMemsetAsync(out, 0, 4096, stream));
    for (int round = 0; round < 3; round++) CHECK(cudaGraphLaunch(exec, stream));
    EXPECT("last of captured", word(out + 1023), 3 * (7 + 1023));
    EXPECT("in use", held(cudaGraphMemAttrUsedMemCurrent), 0);
    EXPECT("in use at most", held(cudaGraphMemAttrUsedMemHigh), 4096);
    CHECK(cudaDeviceGraphMemTrim(0));
    EXPECT("reserved", held(cudaGraphMemAttrReservedMemCurrent), 0);
    size_t count = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT("nodes", count, 4);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// Memory that one graph allocates, and the program or another graph frees.
static void memory_by_hand() {
    cudaGraph_t graph, freeing;
    cudaGraphExec_t exec, free_exec, automatic;
    cudaGraphNode_t node, kernel;
    cudaMemAllocNodeParams memory = {}, told;
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    memory.bytesize = 1024;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory));
    CHECK(cudaGraphMemAllocNodeGetParams(node, &told));
    EXPECT("address", told.dptr == memory.dptr && told.bytesize == 1024, 1);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(node, &type));
    EXPECT("type", type, cudaGraphNodeTypeMemAlloc);
    int n = 256, what = 5;
    void *arguments[] = {&memory.dptr, &n, &what};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)fill;
    launch.gridDim = 1;
    launch.blockDim = 256;
    launch.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &node, 1, &launch));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphCreate(&freeing, 0));
    CHECK(cudaGraphAddMemFreeNode(&node, freeing, nullptr, 0, memory.dptr));
    void *address;
    CHECK(cudaGraphMemFreeNodeGetParams(node, &address));
    EXPECT("address to free", address == memory.dptr, 1);
    CHECK(cudaGraphInstantiate(&free_exec, freeing, 0));

    REFUSED(cudaGraphLaunch(free_exec, stream), cudaErrorInvalidValue);
    CHECK(cudaGraphLaunch(exec, stream));
    EXPECT("by hand", word((int *)memory.dptr + 255), 5 + 255);
    EXPECT("allocated", held(cudaGraphMemAttrUsedMemCurrent), 1024);
    // It is allocated already.
    REFUSED(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
    CHECK(cudaGraphLaunch(free_exec, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaFreeAsync(memory.dptr, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaFree(memory.dptr));
    REFUSED(cudaFree(memory.dptr), cudaErrorInvalidValue);
    EXPECT("freed", held(cudaGraphMemAttrUsedMemCurrent), 0);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphInstantiate(&automatic, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    for (int round = 0; round < 3; round++) CHECK(cudaGraphLaunch(automatic, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(memory.dptr));
    for (cudaGraphExec_t gone : {automatic, free_exec}) CHECK(cudaGraphExecDestroy(gone));
    for (cudaGraph_t gone : {graph, freeing}) CHECK(cudaGraphDestroy(gone));
}

static cudaGraphNode_t conditional(cudaGraph_t graph, cudaGraphConditionalHandle handle, int type, int size,
                                   const cudaGraphNode_t *after, cudaGraph_t *bodies) {
    cudaGraphNodeParams node = {};
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = handle;
    node.conditional.type = (cudaGraphConditionalNodeType)type;
    node.conditional.size = size;
    cudaGraphNode_t made;
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphAddNode(&made, graph, after, nullptr, after ? 1 : 0, &node));
#else
    CHECK(cudaGraphAddNode(&made, graph, after, after ? 1 : 0, &node));
#endif
    memcpy(bodies, node.conditional.phGraph_out, size * sizeof *bodies);
    return made;
}

#if CUDART_VERSION >= 13000
// A graph that becomes a node's own keeps the handles of its nodes: they can be set in what is instantiated.
static void moved(int *words) {
    cudaGraph_t graph, child;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, node;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&child, 0));
    cudaMemsetParams one = {};
    one.dst = words;
    one.value = 1;
    one.elementSize = 4;
    one.width = one.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, child, nullptr, 0, &one));
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeGraph;
    parameters.graph.graph = child;
    parameters.graph.ownership = cudaGraphChildGraphOwnershipMove;
    CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
    // It cannot be moved twice.
    REFUSED(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters), cudaErrorInvalidValue);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    cudaMemsetParams two = one;
    two.value = 2;
    CHECK(cudaGraphExecMemsetNodeSetParams(exec, fill, &two));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT("a moved graph's node", word(words), 2);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}
#endif

// A loop whose body is captured: it ends when the kernel in it says so.
static void loops(int *number, int *steps) {
    cudaGraph_t graph, body;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle more;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t node = conditional(graph, more, cudaGraphCondTypeWhile, 1, nullptr, &body);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(node, &type));
    EXPECT("type", type, cudaGraphNodeTypeConditional);
    CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    halve<<<1, 1, 0, stream>>>(number, steps, more);
    CHECK(cudaStreamEndCapture(stream, nullptr));
    // What comes after the loop.
    cudaGraphNode_t after;
    int last = 77;
    int *end = steps + 1;
    void *arguments[] = {&end, &last};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)note;
    launch.gridDim = launch.blockDim = 1;
    launch.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&after, graph, &node, 1, &launch));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int start : {1000, 3, 40}) {
        CHECK(cudaMemsetAsync(steps, 0, 2 * sizeof(int), stream));
        CHECK(cudaMemcpyAsync(number, &start, sizeof start, cudaMemcpyHostToDevice, stream));
        CHECK(cudaGraphLaunch(exec, stream));
        int rounds = 0;
        for (int left = start; rounds == 0 || left > 1; left /= 2) rounds++;
        EXPECT("rounds", word(steps), rounds);
        EXPECT("behind the loop", word(steps + 1), 77);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// Two ways, and many; one inside of another.
static void choices(int *number, int *result) {
    cudaGraph_t graph, two[2], many[3];
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle nonzero, which;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&nonzero, graph, 0, cudaGraphCondAssignDefault));
    CHECK(cudaGraphConditionalHandleCreate(&which, graph, 0, 0));
    CHECK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    choose<<<1, 1, 0, stream>>>(number, nonzero);
    choose<<<1, 1, 0, stream>>>(number, which);
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t count = 2;
    cudaGraphNode_t chosen[2];
    CHECK(cudaGraphGetNodes(graph, chosen, &count));
    conditional(graph, nonzero, cudaGraphCondTypeIf, 2, &chosen[1], two);
    conditional(two[0], which, cudaGraphCondTypeSwitch, 3, nullptr, many);
    auto noting = [&](cudaGraph_t body, int what) {
        cudaGraphNode_t node;
        void *arguments[] = {&result, &what};
        cudaKernelNodeParams launch = {};
        launch.func = (void *)note;
        launch.gridDim = launch.blockDim = 1;
        launch.kernelParams = arguments;
        CHECK(cudaGraphAddKernelNode(&node, body, nullptr, 0, &launch));
    };
    noting(two[1], 100);
    for (int i = 0; i < 3; i++) noting(many[i], 10 + i);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    const int expected[] = {100, 11, 12, -1};
    for (int value = 0; value < 4; value++) {
        CHECK(cudaMemsetAsync(result, 0xff, sizeof(int), stream));
        CHECK(cudaMemcpyAsync(number, &value, sizeof value, cudaMemcpyHostToDevice, stream));
        CHECK(cudaGraphLaunch(exec, stream));
        EXPECT("choice", word(result), expected[value]);
    }
    char path[] = "/tmp/bugaroo-graph-XXXXXX";
    close(mkstemp(path));
    CHECK(cudaGraphDebugDotPrint(graph, path, cudaGraphDebugDotFlagsVerbose));
    FILE *file = fopen(path, "r");
    std::string picture(1 << 14, 0);
    picture.resize(fread(&picture[0], 1, picture.size(), file));
    fclose(file);
    remove(path);
    EXPECT("a picture", picture.compare(0, 7, "digraph"), 0);
    for (const char *part : {"choose", "note", "CONDITIONAL", "graph_1_node_0\" -> \"graph_1_node_1"})
        EXPECT(part, picture.find(part) != std::string::npos, 1);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

static int destroyed;

// Something that lives as long as the last of the program, a graph and an executable graph that has it.
static void objects() {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaUserObject_t object;
    cudaGraphNode_t node;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
    auto destroy = [](void *data) { *(int *)data += 1; };
    CHECK(cudaUserObjectCreate(&object, &destroyed, destroy, 1, cudaUserObjectNoDestructorSync));
    CHECK(cudaUserObjectRetain(object, 2));
    CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    CHECK(cudaGraphRetainUserObject(graph, object, 1, 0));
    CHECK(cudaGraphReleaseUserObject(graph, object, 1));
    CHECK(cudaUserObjectRelease(object, 2));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT("alive", destroyed, 0);
    CHECK(cudaGraphDestroy(graph));
    EXPECT("alive in the executable", destroyed, 0);
    CHECK(cudaGraphExecDestroy(exec));
    EXPECT("destroyed", destroyed, 1);
    REFUSED(cudaUserObjectRelease(object, 1), cudaErrorInvalidValue);
}

// Another graph's doings, where it has the same form.
static void updates(int *result) {
    cudaGraph_t graphs[3];
    for (int i = 0; i < 3; i++) {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        if (i == 2) CHECK(cudaMemsetAsync(result, 0, sizeof(int), stream));
        else note<<<1, 1, 0, stream>>>(result, 40 + i);
        CHECK(cudaStreamEndCapture(stream, &graphs[i]));
    }
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphInstantiate(&exec, graphs[0], 0));
    CHECK(cudaGraphExecUpdate(exec, graphs[1], &info));
    EXPECT("updated", info.result, cudaGraphExecUpdateSuccess);
    REFUSED(cudaGraphExecUpdate(exec, graphs[2], &info), cudaErrorGraphExecUpdateFailure);
    EXPECT("another kind", info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
    EXPECT("its node", info.errorNode != nullptr, 1);
    cudaGetLastError();
    CHECK(cudaGraphLaunch(exec, stream));
    EXPECT("the second's", word(result), 41);
    CHECK(cudaGraphExecDestroy(exec));
    for (cudaGraph_t graph : graphs) CHECK(cudaGraphDestroy(graph));
}

int main() {
    int *memory;
    CHECK(cudaMalloc(&memory, 4096));
    CHECK(cudaStreamCreate(&stream));
    captured_memory(memory);
    memory_by_hand();
    loops(memory, memory + 1);
    choices(memory, memory + 1);
    objects();
    updates(memory);
#if CUDART_VERSION >= 13000
    moved(memory);
#endif
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(memory));
    return 0;
}
