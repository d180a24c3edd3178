// Allocations, copies in all directions and shapes, fills, variables, and how misuse is refused.
#include "check.h"

__device__ int variable[4] = {1, 2, 3, 4};
__constant__ float factor = 2.5f;

__global__ void add(int *x, int n, int what) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += what;
}

__global__ void scale(float *x) {
    x[threadIdx.x] *= factor;
}

static void ranges() {
    OK(cudaFree(nullptr));
    void *none = &wrong;
    OK(cudaMalloc(&none, 0));
    CHECK(none == nullptr);
    GIVES(cudaErrorInvalidValue, cudaMalloc((void **)nullptr, 4));
    GIVES(cudaErrorMemoryAllocation, cudaMalloc(&none, (size_t)1 << 60));
    static int host[1000];
    int *device;
    OK(cudaMalloc(&device, sizeof host));
    for (int i = 0; i < 1000; i++) host[i] = i;
    OK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(host, device, sizeof host, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(device, host, sizeof host, cudaMemcpyDeviceToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(device, host, 2 * sizeof host, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(device, nullptr, 4, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy(device, host, 4, (cudaMemcpyKind)7));
    GIVES(cudaErrorInvalidValue, cudaFree(host));
    add<<<4, 256>>>(device, 1000, 5);
    OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDefault));
    for (int i = 0; i < 1000; i++) CHECK(host[i] == i + 5);
    OK(cudaMemset(device, 0x101, sizeof host));
    OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[999] == 0x01010101);
    OK(cudaFree(device));
    GIVES(cudaErrorInvalidValue, cudaFree(device));
}

static void rows() {
    char *device, from[10][100], to[10][120];
    size_t pitch = 0;
    OK(cudaMallocPitch((void **)&device, &pitch, 100, 10));
    CHECK(pitch >= 100);
    for (int i = 0; i < 10; i++) memset(from[i], i, 100);
    memset(to, 77, sizeof to);
    OK(cudaMemcpy2D(device, pitch, from, 100, 100, 10, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(to, 120, device, pitch, 100, 10, cudaMemcpyDeviceToHost));
    CHECK(to[9][99] == 9 && to[9][100] == 77 && to[3][0] == 3);
    GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2D(device, 50, from, 100, 100, 10, cudaMemcpyHostToDevice));
    OK(cudaMemset2D(device, pitch, 5, 50, 10));
    OK(cudaMemcpy2D(to, 120, device, pitch, 100, 10, cudaMemcpyDeviceToHost));
    CHECK(to[9][49] == 5 && to[9][50] == 9);
    OK(cudaFree(device));
}

static void variables() {
    int host[4] = {5, 6, 7, 8};
    OK(cudaMemcpyToSymbol(variable, host, 8, 8));
    OK(cudaMemcpyFromSymbol(host, variable, 16));
    CHECK(host[0] == 1 && host[1] == 2 && host[2] == 5 && host[3] == 6);
    GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(variable, host, 16, 8));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(variable, host, 4, 0, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(host, host, 4));
    void *address = nullptr;
    size_t size = 0;
    OK(cudaGetSymbolAddress(&address, variable));
    OK(cudaGetSymbolSize(&size, variable));
    CHECK(size == 16);
    OK(cudaMemcpy(host, (int *)address + 3, 4, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 6);
    float four = 4, ones[32], *device;
    for (float &one : ones) one = 1;
    OK(cudaMemcpyToSymbol(factor, &four, 4));
    OK(cudaMalloc(&device, sizeof ones));
    OK(cudaMemcpy(device, ones, sizeof ones, cudaMemcpyHostToDevice));
    scale<<<1, 32>>>(device);
    OK(cudaMemcpy(ones, device, sizeof ones, cudaMemcpyDeviceToHost));
    CHECK(ones[31] == 4);
}

static void pointers() {
    cudaPointerAttributes known;
    int *pinned, *device, pageable;
    OK(cudaMallocHost(&pinned, 400));
    OK(cudaMalloc(&device, 400));
    OK(cudaPointerGetAttributes(&known, pinned));
    CHECK(known.type == cudaMemoryTypeHost && known.hostPointer == pinned);
    OK(cudaPointerGetAttributes(&known, device));
    CHECK(known.type == cudaMemoryTypeDevice && known.devicePointer == device && known.device == 0);
    OK(cudaPointerGetAttributes(&known, &pageable));
    CHECK(known.type == cudaMemoryTypeUnregistered && known.devicePointer == nullptr);
    OK(cudaFreeHost(pinned));
    OK(cudaFreeHost(nullptr));
}

// What a fault breaks stays broken until the device is reset.
static void faults() {
    int *device;
    add<<<1, 1>>>((int *)64, 1, 1);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(cudaMalloc(&device, 4) == cudaErrorIllegalAddress);
    CHECK(cudaDeviceReset() == cudaSuccess);
    cudaGetLastError();
    int host = 0;
    OK(cudaMalloc(&device, 4));
    OK(cudaMemset(device, 0, 4));
    add<<<1, 1>>>(device, 1, 6);
    OK(cudaMemcpyFromSymbol(&host, variable, 4));
    CHECK(host == 1);
    OK(cudaMemcpy(&host, device, 4, cudaMemcpyDeviceToHost));
    CHECK(host == 6);
}

int main() {
    ranges();
    rows();
    variables();
    pointers();
    faults();
    return wrong != 0;
}
