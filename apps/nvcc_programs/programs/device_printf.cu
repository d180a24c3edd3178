// nvcc program:
// printf, assert and malloc in device code. What it prints is the same in every run.
#include <cassert>

#include "check.h"

__device__ int *list[32];

__global__ void fill() {
    list[threadIdx.x] = static_cast<int *>(malloc(4 * sizeof(int)));
    assert(list[threadIdx.x] != nullptr);
    for (int i = 0; i < 4; i++) list[threadIdx.x][i] = threadIdx.x * 10 + i;
}

__global__ void tell() {
    int sum = 0;
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) sum += list[lane][i];
        free(list[lane]);
    }
    printf("sum %d, %5.2f|%-6s|%08x %c %llu%%\n", sum, 1.0 / 3.0, "left", 48879, 'x', 1ull << 40);
}

int main() {
    std::printf("before\n");
    fill<<<1, 32>>>();
    tell<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    std::printf("after\n");
    return 0;
}
