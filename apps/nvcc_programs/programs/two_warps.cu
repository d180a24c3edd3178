// nvcc program: -arch=sm_75
// A sum of two warps as programs from before Volta have it: each adds its half up in lockstep, and the second tells the first by
// a flag. With `fenced` there are fences on either side of the flag; without, no lockstep makes good that they miss.
#include <cstring>

#include "check.h"

__global__ void sum(const int *numbers, int *total, bool fenced) {
    volatile __shared__ int values[64];
    volatile __shared__ int ready;
    unsigned t = threadIdx.x, lane = t & 31;
    if (t == 0) ready = 0;
    __syncthreads();
    values[t] = numbers[t];
    if (lane < 16) {
        values[t] += values[t + 16];
        values[t] += values[t + 8];
        values[t] += values[t + 4];
        values[t] += values[t + 2];
        values[t] += values[t + 1];
    }
    if (t == 32) {
        if (fenced) __threadfence_block();
        ready = 1;
    }
    if (t == 0) {
        while (!ready) {
        }
        if (fenced) __threadfence_block();
        *total = values[0] + values[32];
    }
}

int main(int arguments, char **argument) {
    bool fenced = arguments > 1 && std::strcmp(argument[1], "fenced") == 0;
    int numbers[64], want = 0, got = 0;
    Noise noise = {5};
    for (int &number : numbers) want += number = noise.next() % 100;
    int *in, *total;
    CHECK(cudaMalloc(&in, sizeof numbers));
    CHECK(cudaMalloc(&total, sizeof(int)));
    CHECK(cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    sum<<<1, 64>>>(in, total, fenced);
    CHECK(cudaMemcpy(&got, total, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT("sum", got, want);
    std::puts("ok");
}
