// A library with device code and a runtime of its own; run() is 0 when all is well.
#include "check.h"

__device__ int number = 20;

__global__ void add(int more) { number += more; }

extern "C" int run() {
    int sum = 0;
    add<<<1, 1>>>(22);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&sum, number, sizeof sum));
    CHECK(sum == 42);
    return wrong != 0;
}
