// nvcc program: part of main.cu
#include "polynomial.h"

#include "../check.h"

__constant__ float coefficients[3];
__device__ int calls;

// The same name as in main.cu, and another meaning.
static __device__ float helper(float x) { return x + 2.0f; }

__device__ Function step = helper;

__device__ float apply(Function function, float x) { return function(x); }

__device__ float polynomial(float x) {
    atomicAdd(&calls, 1);
    return coefficients[0] + x * (coefficients[1] + x * coefficients[2]);
}

void set_coefficients(const float (&values)[3]) { CHECK(cudaMemcpyToSymbol(coefficients, values, sizeof values)); }

int calls_so_far() {
    int count;
    CHECK(cudaMemcpyFromSymbol(&count, calls, sizeof count));
    return count;
}
