// nvcc program: -arch=sm_90 -lcufft
// Transforms there and back by cuFFT, from a kernel's values, scaled by another kernel.
// `one`: in one stream. `apart`: the transforms in a stream of their own, and nothing that orders the two.
#include "check.h"
#include <cmath>
#include <cstring>
#include <vector>

// As NVIDIA's documentation has them.
typedef int cufftHandle;
extern "C" {
int cufftPlan2d(cufftHandle *plan, int x, int y, int type);
int cufftSetStream(cufftHandle plan, cudaStream_t stream);
int cufftExecR2C(cufftHandle plan, float *from, float2 *to);
int cufftExecC2R(cufftHandle plan, float2 *from, float *to);
int cufftDestroy(cufftHandle plan);
}

const int ROWS = 12, COLUMNS = 10, COUNT = ROWS * COLUMNS;

__global__ void prepare(float *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT)
        values[i] = i * 7 % 11;
}

__global__ void scale(float *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT)
        values[i] /= COUNT;
}

int main(int count, char **words) {
    bool apart = count > 1 && std::strcmp(words[1], "apart") == 0;
    float *values, *back;
    float2 *spectrum;
    CHECK(cudaMalloc(&values, COUNT * sizeof(float)));
    CHECK(cudaMalloc(&back, COUNT * sizeof(float)));
    CHECK(cudaMalloc(&spectrum, ROWS * (COLUMNS / 2 + 1) * sizeof(float2)));
    cudaStream_t stream, other;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    cufftHandle forth, back_again;
    EXPECT("cufftPlan2d", cufftPlan2d(&forth, ROWS, COLUMNS, 0x2a), 0);
    EXPECT("cufftPlan2d", cufftPlan2d(&back_again, ROWS, COLUMNS, 0x2c), 0);
    EXPECT("cufftSetStream", cufftSetStream(forth, apart ? other : stream), 0);
    EXPECT("cufftSetStream", cufftSetStream(back_again, apart ? other : stream), 0);
    prepare<<<4, 32, 0, stream>>>(values);
    EXPECT("cufftExecR2C", cufftExecR2C(forth, values, spectrum), 0);
    EXPECT("cufftExecC2R", cufftExecC2R(back_again, spectrum, back), 0);
    scale<<<4, 32, 0, stream>>>(back);
    std::vector<float> found(COUNT);
    CHECK(cudaMemcpyAsync(found.data(), back, COUNT * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++)
        if (std::fabs(found[i] - i * 7 % 11) > 1e-5)
            EXPECT("a value", found[i], i * 7 % 11);
    EXPECT("cufftDestroy", cufftDestroy(forth), 0);
    EXPECT("cufftDestroy", cufftDestroy(back_again), 0);
}
