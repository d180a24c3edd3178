// nvcc program: -arch=sm_75
// A sum per block as programs from before Volta have it: the last warp goes on without __syncwarp(), and __shared__ memory is
// volatile instead. `unfenced` leaves out the fence that the last block needs, which no lockstep makes good. `astray` takes the
// sums for offsets, so that wrong ones lead out of the array.
#include <cstring>

#include "check.h"

const int THREADS = 128, BLOCKS = 16;
__device__ unsigned finished;

__global__ void sum(const int *numbers, int *parts, int *total, bool fenced, bool astray) {
    volatile __shared__ int values[THREADS];
    __shared__ bool last;
    unsigned t = threadIdx.x;
    values[t] = numbers[blockIdx.x * THREADS + t];
    __syncthreads();
    if (t < 64) values[t] += values[t + 64];
    __syncthreads();
    if (t < 32) {
        values[t] += values[t + 32];
        values[t] += values[t + 16];
        values[t] += values[t + 8];
        values[t] += values[t + 4];
        values[t] += values[t + 2];
        values[t] += values[t + 1];
    }
    if (t == 0) {
        int offset = astray ? (values[0] - THREADS) << 20 : 0;
        parts[offset + blockIdx.x] = values[0];
        if (fenced) __threadfence();
        last = atomicInc(&finished, BLOCKS - 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int all = 0;
        for (int i = 0; i < BLOCKS; i++) all += ((volatile int *)parts)[i];
        *total = all;
    }
}

int main(int arguments, char **argument) {
    bool fenced = arguments < 2 || std::strcmp(argument[1], "unfenced") != 0;
    bool astray = arguments >= 2 && std::strcmp(argument[1], "astray") == 0;
    int numbers[BLOCKS * THREADS], want = 0, got = 0;
    Noise noise = {3};
    for (int &number : numbers) want += number = astray ? 1 : noise.next() % 100;
    int *in, *parts, *total;
    CHECK(cudaMalloc(&in, sizeof numbers));
    CHECK(cudaMalloc(&parts, BLOCKS * sizeof(int)));
    CHECK(cudaMemset(parts, 0, BLOCKS * sizeof(int)));
    CHECK(cudaMalloc(&total, sizeof(int)));
    CHECK(cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    sum<<<BLOCKS, THREADS>>>(in, parts, total, fenced, astray);
    CHECK(cudaMemcpy(&got, total, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT("sum", got, want);
    std::puts("ok");
}
