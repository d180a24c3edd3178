// Kernels and variables by their host counterparts, and what is said of launches that cannot be.
#include "check.h"

__device__ int counter = 10;
__constant__ float scale[4];

template <class T> __global__ void fill(T *to, T value) {
    to[threadIdx.x] = value + (T)scale[1];
    atomicAdd(&counter, 1);
}

__global__ void __launch_bounds__(64) bounded() {}

static int counted() {
    int count = 0;
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    return count;
}

// Called as a kernel, which it is not.
static void host() {}

int main() {
    int *memory, back[32], value = 7;
    float factors[4] = {1, 2, 3, 4};
    OK(cudaMalloc(&memory, sizeof back));
    OK(cudaMemcpyToSymbol(scale, factors, sizeof factors));
    fill<int><<<1, 32>>>(memory, 3);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(back, memory, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back[31] == 5 && counted() == 42);

    void *address = nullptr;
    size_t size = 0;
    OK(cudaGetSymbolAddress(&address, counter));
    OK(cudaGetSymbolSize(&size, scale));
    CHECK(address != nullptr && size == sizeof factors);
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, (const void *)host));

    void *arguments[] = {&memory, &value};
    auto launch = [&](const void *kernel, dim3 grid, dim3 block, size_t shared) {
        return cudaLaunchKernel(kernel, grid, block, arguments, shared, nullptr);
    };
    auto kernel = (const void *)fill<int>;
    OK(launch(kernel, 1, 32, 0));
    GIVES(cudaErrorInvalidConfiguration, launch(kernel, 1, 2000, 0));
    GIVES(cudaErrorInvalidConfiguration, launch(kernel, 0, 32, 0));
    GIVES(cudaErrorInvalidConfiguration, launch(kernel, dim3(1, 70000), 32, 0));
    GIVES(cudaErrorInvalidValue, launch(kernel, 1, 32, 1 << 20));
    GIVES(cudaErrorLaunchOutOfResources, launch((const void *)bounded, 1, 128, 0));
    GIVES(cudaErrorInvalidDeviceFunction, launch((const void *)host, 1, 1, 0));
    GIVES(cudaErrorInvalidDeviceFunction, launch(nullptr, 1, 1, 0));

    const char *name = nullptr;
    OK(cudaFuncGetName(&name, (const void *)bounded));
    CHECK(name != nullptr && strcmp(name, "_Z7boundedv") == 0);
    cudaLaunchConfig_t configuration = {};
    configuration.gridDim = configuration.blockDim = 1;
    OK(cudaLaunchKernelEx(&configuration, fill<int>, memory, value));
    cudaKernel_t handle;
    OK(cudaGetKernel(&handle, kernel));
    OK(launch((const void *)handle, 1, 1, 0));
    cudaFunction_t function;
    OK(cudaGetFuncBySymbol(&function, kernel));
    CHECK(counted() == 42 + 32 + 1 + 1);

    // What was loaded is loaded anew, with the variables as they were at first.
    OK(cudaDeviceReset());
    OK(cudaMalloc(&memory, sizeof back));
    fill<int><<<1, 32>>>(memory, 3);
    OK(cudaDeviceSynchronize());
    CHECK(counted() == 42);
    return wrong != 0;
}
