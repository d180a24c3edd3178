// nvcc program: -rdc=true polynomial.cu
// Relocatable device code: a kernel here calls a function and reads variables that another file defines.
#include <vector>

#include "../check.h"
#include "polynomial.h"

static __device__ float helper(float x) { return x + 1.0f; }

__global__ void evaluate(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = helper(polynomial(in[i])) + apply(step, in[i]);
}

int main() {
    const int n = 300;
    std::vector<float> in(n), out(n);
    for (int i = 0; i < n; i++) in[i] = float(i % 13);
    float *a, *b;
    CHECK(cudaMalloc(&a, n * sizeof(float)));
    CHECK(cudaMalloc(&b, n * sizeof(float)));
    CHECK(cudaMemcpy(a, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    float chosen[3] = {2, 3, 5};
    set_coefficients(chosen);
    evaluate<<<3, 128>>>(a, b, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), b, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        float x = in[i];
        EXPECT("value", out[i], 2 + 3 * x + 5 * x * x + 1 + (x + 2));
    }
    EXPECT("calls counted there", calls_so_far(), n);
    return 0;
}
