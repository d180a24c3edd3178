// Memory that host and device share: managed, mapped, registered.
#include "check.h"

__managed__ int total = 40;

__global__ void add(int *x, int n, int what) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += what;
    if (i == 0) total += what;
}

int main() {
    int *memory, *device;
    cudaPointerAttributes known;
    GIVES(cudaErrorInvalidValue, cudaMallocManaged(&memory, 0));
    OK(cudaMallocManaged(&memory, 400));
    for (int i = 0; i < 100; i++) memory[i] = i;
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    OK(cudaMemPrefetchAsync(memory, 400, here, 0, 0));
    OK(cudaMemAdvise(memory, 400, cudaMemAdviseSetReadMostly, here));
    add<<<1, 100>>>(memory, 100, 1);
    OK(cudaDeviceSynchronize());
    CHECK(memory[50] == 51 && total == 41);
    OK(cudaPointerGetAttributes(&known, memory));
    CHECK(known.type == cudaMemoryTypeManaged && known.devicePointer == memory && known.hostPointer == memory);
    int host[100];
    OK(cudaMemcpy(host, memory, 400, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(memory, host, 400, cudaMemcpyHostToDevice));
    CHECK(host[99] == 100);
    OK(cudaFree(memory));

    int *mapped;
    OK(cudaHostAlloc(&mapped, 400, cudaHostAllocMapped));
    mapped[99] = 7;
    OK(cudaHostGetDevicePointer(&device, mapped, 0));
    add<<<1, 100>>>(device, 100, 1);
    OK(cudaDeviceSynchronize());
    CHECK(mapped[99] == 8);
    OK(cudaFreeHost(mapped));

    static int registered[1024];
    OK(cudaHostRegister(registered, sizeof registered, cudaHostRegisterMapped));
    GIVES(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(registered, sizeof registered, 0));
    OK(cudaHostGetDevicePointer(&device, registered, 0));
    add<<<4, 256>>>(device, 1024, 3);
    OK(cudaDeviceSynchronize());
    CHECK(registered[1023] == 3);
    OK(cudaHostUnregister(registered));
    GIVES(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(registered));
    return wrong != 0;
}
