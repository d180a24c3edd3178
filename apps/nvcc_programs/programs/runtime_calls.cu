// nvcc program: -std=c++17 -arch=sm_75
// One call after the other of what programs ask of the runtime, one thread's and several threads': what the other programs here do not use.

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "check.h"

#define FAILS(call, error)                                             \
    do {                                                               \
        EXPECT(#call, int(call), int(error));                          \
        EXPECT("the last error", int(cudaGetLastError()), int(error)); \
    } while (0)

constexpr int kCount = 1000;

__device__ int offset = 5;
__constant__ int table[16];

struct Numbers {
    int values[100];
};

__global__ void add(int *data, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] += offset + table[i % 16];
}

__global__ void reverse(int *data) {
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    data[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}

__global__ void pick(Numbers numbers, char more, double most, int *data) {
    data[0] = numbers.values[99] + more + int(most);
}

template <class T>
__global__ void set(T *place) {
    *place = T(3);
}

static int first(const int *data) {
    int word;
    CHECK(cudaMemcpy(&word, data, sizeof word, cudaMemcpyDefault));
    return word;
}

// Symbols, arguments, shared memory, attributes.
static void kernels(int *data) {
    int numbers[16], nine = 9, back = 0;
    for (int i = 0; i < 16; i++) numbers[i] = i;
    CHECK(cudaMemcpyToSymbol(table, numbers, sizeof numbers));
    CHECK(cudaMemcpyToSymbolAsync(offset, &nine, sizeof nine, 0, cudaMemcpyHostToDevice, 0));
    add<<<8, 128>>>(data, kCount);
    EXPECT("offset and table", first(data + 17), 10);
    CHECK(cudaMemcpyFromSymbol(&back, offset, sizeof back));
    EXPECT("offset", back, 9);
    void *address;
    size_t bytes;
    CHECK(cudaGetSymbolAddress(&address, offset));
    CHECK(cudaGetSymbolSize(&bytes, table));
    EXPECT("bytes of the table", bytes, sizeof table);

    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 90000));
    reverse<<<1, 256, 80000>>>(data);
    EXPECT("reversed", first(data), 255);
    reverse<<<1, 256, 400000>>>(data);
    EXPECT("too much shared memory", int(cudaGetLastError()), int(cudaErrorInvalidValue));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, reverse));
    EXPECT("shared memory", attributes.maxDynamicSharedSizeBytes, 90000);
    int blocks, grid, block;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 256, 1000));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add, 0, 0));
    EXPECT("a block fits", blocks > 0 && grid > 0 && block > 0, true);

    Numbers many = {};
    many.values[99] = 40;
    pick<<<1, 1>>>(many, 1, 1.5, data);
    EXPECT("arguments", first(data), 42);
    const char *name;
    CHECK(cudaFuncGetName(&name, (void *)reverse));
    EXPECT("the name", std::strcmp(name, "_Z7reversePi"), 0);
}

// Streams, host functions, memory of a stream, a graph that was captured.
static void streams(int *data) {
    cudaStream_t stream, other;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(start, stream));
    CHECK(cudaStreamWaitEvent(other, start, 0));
    CHECK(cudaMemsetAsync(data, 0, kCount * sizeof(int), other));
    add<<<8, 128, 0, other>>>(data, kCount);
    CHECK(cudaEventRecord(end, other));
    CHECK(cudaEventSynchronize(end));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, end));
    static int called;
    CHECK(cudaLaunchHostFunc(stream, [](void *count) { ++*(int *)count; }, &called));
    CHECK(cudaStreamAddCallback(stream, [](cudaStream_t, cudaError_t, void *count) { ++*(int *)count; }, &called, 0));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT("called", called, 2);

    int *pooled;
    CHECK(cudaMallocAsync(&pooled, 4096, stream));
    CHECK(cudaMemsetAsync(pooled, 1, 4096, stream));
    CHECK(cudaFreeAsync(pooled, stream));

    cudaGraph_t graph;
    cudaGraphExec_t ready;
    int words[2];
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<8, 128, 0, stream>>>(data, kCount);
    CHECK(cudaMemcpyAsync(words, data, sizeof words, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t count = 2;
    cudaGraphNode_t nodes[2];
    CHECK(cudaGraphGetNodes(graph, nodes, &count));
    EXPECT("nodes", count, size_t(2));
    cudaKernelNodeParams node;
    CHECK(cudaGraphKernelNodeGetParams(nodes[0], &node));
    EXPECT("the node's kernel", node.func == (void *)add, true);
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT("added three times", words[1], 30);
    CHECK(cudaGraphExecDestroy(ready));
    CHECK(cudaGraphDestroy(graph));

    void *arguments[] = {&data};
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = 1;
    config.stream = other;
    CHECK(cudaLaunchKernelEx(&config, set<int>, data));
    CHECK(cudaLaunchKernel((void *)set<int>, dim3(1), dim3(1), arguments, 0, cudaStreamPerThread));
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    for (cudaStream_t each : {stream, other}) CHECK(cudaStreamDestroy(each));
    for (cudaEvent_t each : {start, end}) CHECK(cudaEventDestroy(each));
}

// The kinds of memory.
static void memory(int *data) {
    cudaPointerAttributes attributes;
    CHECK(cudaFreeHost(nullptr));
    CHECK(cudaPointerGetAttributes(&attributes, data));
    EXPECT("device memory", int(attributes.type), int(cudaMemoryTypeDevice));
    int *host, *mapped;
    CHECK(cudaMallocHost(&host, 4096));
    CHECK(cudaHostGetDevicePointer((void **)&mapped, host, 0));
    set<<<1, 1>>>(mapped);
    CHECK(cudaDeviceSynchronize());
    EXPECT("mapped", host[0], 3);
    CHECK(cudaFreeHost(host));
    std::vector<int> own(4096);
    CHECK(cudaHostRegister(own.data(), own.size() * sizeof(int), 0));
    CHECK(cudaHostUnregister(own.data()));
    char *rows;
    size_t pitch;
    CHECK(cudaMallocPitch(&rows, &pitch, 100, 10));
    CHECK(cudaMemcpy2D(rows, pitch, own.data(), 100, 100, 10, cudaMemcpyHostToDevice));
    CHECK(cudaMemset2D(rows, pitch, 1, 100, 10));
    CHECK(cudaFree(rows));
    cudaPitchedPtr box;
    CHECK(cudaMalloc3D(&box, make_cudaExtent(64, 4, 4)));
    CHECK(cudaMemset3D(box, 0, make_cudaExtent(64, 4, 4)));
    CHECK(cudaFree(box.ptr));
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &floats, 16, 16));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, own.data(), 64, 64, 16, cudaMemcpyHostToDevice));
    CHECK(cudaFreeArray(array));
    size_t available, all;
    CHECK(cudaMemGetInfo(&available, &all));
    EXPECT("some is used", available < all, true);
    FAILS(cudaFree((void *)12345), cudaErrorInvalidValue);
}

static void threads() {
    std::atomic<int> wrong{0};
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++) {
        all.emplace_back([&] {
            float *place, value = 0;
            cudaStream_t stream;
            wrong += cudaStreamCreate(&stream) != cudaSuccess;
            wrong += cudaMalloc(&place, sizeof value) != cudaSuccess;
            set<<<1, 1, 0, stream>>>(place);
            wrong += cudaStreamSynchronize(stream) != cudaSuccess;
            wrong += cudaMemcpy(&value, place, sizeof value, cudaMemcpyDefault) != cudaSuccess;
            wrong += value != 3;
            wrong += cudaFree(place) != cudaSuccess;
            wrong += cudaStreamDestroy(stream) != cudaSuccess;
        });
    }
    for (auto &thread : all) thread.join();
    EXPECT("wrong in a thread", wrong.load(), 0);
}

int main() {
    int version, devices;
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, &version));
    EXPECT("the program's own memory", int(attributes.type), int(cudaMemoryTypeUnregistered));
    EXPECT("its address on the device", attributes.devicePointer == nullptr, true);
    CHECK(cudaRuntimeGetVersion(&version));
    EXPECT("the version", version / 1000, CUDART_VERSION / 1000);
    CHECK(cudaDriverGetVersion(&version));
    CHECK(cudaGetDeviceCount(&devices));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    EXPECT("the warp", properties.warpSize, 32);
    FAILS(cudaSetDevice(devices), cudaErrorInvalidDevice);
    size_t limit;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    EXPECT("the heap", limit, size_t(1 << 20));
    void *entry;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &entry, 12000, cudaEnableDefault, &found));

    int *data;
    CHECK(cudaMalloc(&data, kCount * sizeof(int)));
    CHECK(cudaMemset(data, 0, kCount * sizeof(int)));
    kernels(data);
    streams(data);
    memory(data);
    threads();
    CHECK(cudaDeviceReset());
    // The context is another one, and so is what is loaded in it: variables are as they were at first.
    CHECK(cudaMalloc(&data, kCount * sizeof(int)));
    CHECK(cudaMemset(data, 0, kCount * sizeof(int)));
    add<<<8, 128>>>(data, kCount);
    EXPECT("the offset after the reset", first(data + 17), 5);
    return 0;
}
