// Streams, events, host functions, allocation in streams, devices, kernels' attributes.
#include "check.h"

__global__ void add(int *x, int n, int what) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += what;
}

static void CUDART_CB count(void *calls) {
    ++*(int *)calls;
}

static void CUDART_CB count_if_well(cudaStream_t, cudaError_t error, void *calls) {
    if (error == cudaSuccess) ++*(int *)calls;
}

static void in_order() {
    cudaStream_t stream;
    int *device, *host, calls = 0;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaMallocAsync(&device, 400, stream));
    OK(cudaHostAlloc(&host, 400, cudaHostAllocDefault));
    OK(cudaMemsetAsync(device, 0, 400, stream));
    for (int i = 0; i < 3; i++) add<<<1, 100, 0, stream>>>(device, 100, 2);
    OK(cudaLaunchHostFunc(stream, count, &calls));
    OK(cudaStreamAddCallback(stream, count_if_well, &calls, 0));
    OK(cudaMemcpyAsync(host, device, 400, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(device, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamQuery(stream));
    CHECK(host[99] == 6 && calls == 2);
    unsigned flags = 0;
    OK(cudaStreamGetFlags(stream, &flags));
    CHECK(flags == cudaStreamNonBlocking);
    OK(cudaStreamDestroy(stream));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamDestroy(nullptr));
    OK(cudaFreeHost(host));
}

static void events() {
    cudaStream_t stream;
    cudaEvent_t start, end, untimed;
    float milliseconds = -1;
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, end));
    OK(cudaEventRecord(start, stream));
    OK(cudaEventRecord(untimed, stream));
    OK(cudaStreamWaitEvent(0, untimed, 0));
    OK(cudaEventRecord(end));
    OK(cudaEventSynchronize(end));
    OK(cudaEventQuery(start));
    OK(cudaEventElapsedTime(&milliseconds, start, end));
    CHECK(milliseconds >= 0);
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, untimed));
    OK(cudaEventDestroy(untimed));
    OK(cudaStreamDestroy(stream));
}

static void devices() {
    cudaDeviceProp known;
    int number = -1, value = 0;
    OK(cudaGetDeviceCount(&number));
    CHECK(number >= 1);
    OK(cudaGetDeviceProperties(&known, 0));
    CHECK(known.warpSize == 32 && known.maxThreadsPerBlock == 1024 && known.maxGridSize[0] == 2147483647);
    CHECK(known.totalGlobalMem > 0 && known.major >= 7 && known.sharedMemPerBlockOptin >= known.sharedMemPerBlock);
    GIVES(cudaErrorInvalidDevice, cudaGetDeviceProperties(&known, number));
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(number));
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    CHECK(value == known.multiProcessorCount);
    GIVES(cudaErrorInvalidValue, cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0));
    OK(cudaRuntimeGetVersion(&value));
    CHECK(value / 1000 == CUDART_VERSION / 1000);
    char bus[16];
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    OK(cudaDeviceGetByPCIBusId(&value, bus));
    CHECK(value == 0);
}

static void kernels() {
    cudaFuncAttributes known;
    int blocks = 0, threads = 0;
    OK(cudaFuncGetAttributes(&known, add));
    CHECK(known.maxThreadsPerBlock == 1024 && known.sharedSizeBytes == 0 && known.ptxVersion >= 70);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
    CHECK(blocks > 0);
    OK(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, add));
    CHECK(threads % 32 == 0 && threads > 0);
    OK(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    GIVES(cudaErrorInvalidValue, cudaFuncSetAttribute(add, (cudaFuncAttribute)3, 1));
    GIVES(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&known, (void *)devices));
    add<<<4, 2048>>>(nullptr, 0, 0);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
}

int main() {
    devices();
    in_order();
    events();
    kernels();
    return wrong != 0;
}
