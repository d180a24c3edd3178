// Kernels that wait: for ever, or for somebody outside. The first argument says which.
#include <cstdio>
#include <cstring>
#include <thread>
#include <cuda_runtime.h>

#define V(x) (*(volatile unsigned *)&(x))

__device__ unsigned ready;

__global__ void wait_for_flag(unsigned *out)
{
    while (V(ready) == 0) {}
    *out = 1;
}

__global__ void keep_lock(unsigned *lock, unsigned *out)
{
    while (atomicCAS(lock, 0, 1) != 0) {}
    atomicAdd(out, 1);
}

// Each is there by a store that nothing orders.
__global__ void meet(unsigned *flags)
{
    flags[blockIdx.x * 32] = 1;
    while (V(flags[(1 - blockIdx.x) * 32]) == 0) {}
}

__global__ void answer(volatile unsigned *box)
{
    while (box[0] == 0) {}
    box[1] = box[0] + 1;
}

__global__ void set(unsigned *flag) { V(*flag) = 1; }
__global__ void wait(unsigned *flag) { while (V(*flag) == 0) {} }

__global__ void lanes(unsigned *lock, unsigned *out)
{
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    V(*out) = V(*out) + 1;
    __threadfence();
    atomicExch(lock, 0);
}

int main(int count, char **arguments)
{
    const char *which = count > 1 ? arguments[1] : "";
    unsigned *memory, value = 0;
    cudaMalloc(&memory, 4096);
    cudaMemset(memory, 0, 4096);
    if (!strcmp(which, "flag")) wait_for_flag<<<2, 48>>>(memory);
    if (!strcmp(which, "lock")) keep_lock<<<2, 32>>>(memory, memory + 1);
    if (!strcmp(which, "meet")) meet<<<2, 1>>>(memory);
    if (!strcmp(which, "lanes")) lanes<<<2, 32>>>(memory, memory + 1);
    if (!strcmp(which, "mapped") || !strcmp(which, "thread")) {
        unsigned *box;
        cudaHostAlloc(&box, 64, cudaHostAllocMapped);
        box[0] = box[1] = 0;
        answer<<<1, 1>>>(box);
        if (!strcmp(which, "mapped")) {
            V(box[0]) = 41;
            while (V(box[1]) == 0) {}
        } else {
            std::thread other([box] {
                std::this_thread::sleep_for(std::chrono::milliseconds(300));
                V(box[0]) = 41;
            });
            cudaDeviceSynchronize();
            other.join();
        }
        return box[1] == 42 ? 0 : 1;
    }
    if (!strcmp(which, "streams")) {
        cudaStream_t one, two;
        cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
        cudaDeviceSynchronize();
        wait<<<1, 64, 0, one>>>(memory);
        set<<<1, 1, 0, two>>>(memory);
    }
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) { printf("%s\n", cudaGetErrorString(error)); return 1; }
    if (!strcmp(which, "lanes")) {
        cudaMemcpy(&value, memory + 1, 4, cudaMemcpyDeviceToHost);
        return value == 64 ? 0 : 1;
    }
    return 0;
}
