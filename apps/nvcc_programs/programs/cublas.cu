// nvcc program: -arch=sm_90 -lcublas
// A product by cuBLAS between two kernels: its factors come from the first, the second reads its result.
// `one`: all of it in one stream. `event`: the product in a stream of its own, and events order it. `before`, `after`: one of
// these events is missing. `device`: the scalars are the first kernel's, too. `graph`: captured, and launched twice.
// `missing`: a function that Bugaroo lacks. `outside`: a result that has no room.
#include "check.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// As NVIDIA's documentation has them.
typedef struct cublasContext *cublasHandle_t;
extern "C" {
int cublasCreate_v2(cublasHandle_t *handle);
int cublasDestroy_v2(cublasHandle_t handle);
int cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
int cublasSetPointerMode_v2(cublasHandle_t handle, int mode);
int cublasSgemm_v2(cublasHandle_t handle, int of_a, int of_b, int m, int n, int k, const float *alpha, const float *a,
                   int a_leading, const float *b, int b_leading, const float *beta, float *c, int c_leading);
int cublasSgelsBatched(cublasHandle_t handle, int op, int m, int n, int count, float *const a[], int a_leading,
                       float *const c[], int c_leading, int *info, int *of_each, int batch);
}

#define BLAS(call)                                                                                                     \
    do {                                                                                                               \
        int status = (call);                                                                                           \
        if (status != 0) {                                                                                             \
            std::printf("%s: %d\n", #call, status);                                                                    \
            std::exit(2);                                                                                              \
        }                                                                                                              \
    } while (0)

const int SIZE = 24, COUNT = SIZE * SIZE;

__global__ void prepare(float *a, float *b, float *scalars) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) {
        a[i] = i % 7;
        b[i] = i % 5 - 2;
    }
    if (i < 2)
        scalars[i] = i == 0 ? 2 : 0;
}

__global__ void finish(const float *c, float *d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT)
        d[i] = c[i] + 1;
}

int main(int count, char **words) {
    const char *how = count > 1 ? words[1] : "one";
    auto is = [&](const char *name) { return std::strcmp(how, name) == 0; };
    bool apart = is("event") || is("before") || is("after");
    float *a, *b, *c, *d, *scalars;
    for (float **place : {&a, &b, &c, &d, &scalars})
        CHECK(cudaMalloc(place, COUNT * sizeof(float)));
    CHECK(cudaMemset(c, 0, COUNT * sizeof(float)));
    CHECK(cudaMemset(a, 0, COUNT * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t stream, other;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    cudaEvent_t prepared, multiplied;
    CHECK(cudaEventCreateWithFlags(&prepared, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&multiplied, cudaEventDisableTiming));
    cublasHandle_t handle;
    BLAS(cublasCreate_v2(&handle));
    BLAS(cublasSetStream_v2(handle, apart ? other : stream));
    if (is("missing")) {
        int info;
        return cublasSgelsBatched(handle, 0, 1, 1, 1, nullptr, 1, nullptr, 1, &info, nullptr, 0) == 15 ? 0 : 1;
    }
    float two = 2, zero = 0;
    const float *alpha = &two, *beta = &zero;
    if (is("device")) {
        BLAS(cublasSetPointerMode_v2(handle, 1));
        alpha = scalars;
        beta = scalars + 1;
    }
    if (is("graph"))
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    int blocks = (COUNT + 127) / 128;
    prepare<<<blocks, 128, 0, stream>>>(a, b, scalars);
    if (apart && !is("before")) {
        CHECK(cudaEventRecord(prepared, stream));
        CHECK(cudaStreamWaitEvent(other, prepared));
    }
    int c_leading = is("outside") ? SIZE + 1000000 : SIZE;
    BLAS(cublasSgemm_v2(handle, 0, 1, SIZE, SIZE, SIZE, alpha, a, SIZE, b, SIZE, beta, c, c_leading));
    if (apart && !is("after")) {
        CHECK(cudaEventRecord(multiplied, other));
        CHECK(cudaStreamWaitEvent(stream, multiplied));
    }
    finish<<<blocks, 128, 0, stream>>>(c, d);
    if (is("graph")) {
        cudaGraph_t graph;
        cudaGraphExec_t ready;
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&ready, graph, 0));
        CHECK(cudaGraphLaunch(ready, stream));
        CHECK(cudaGraphLaunch(ready, stream));
    }
    std::vector<float> result(COUNT);
    CHECK(cudaMemcpyAsync(result.data(), d, COUNT * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++) {
        int row = i % SIZE, column = i / SIZE;
        float sum = 0;
        for (int k = 0; k < SIZE; k++)
            sum += (row + k * SIZE) % 7 * ((column + k * SIZE) % 5 - 2);
        if (result[i] != 2 * sum + 1) {
            std::printf("wrong: %g at %d, not %g\n", result[i], i, 2 * sum + 1);
            return 1;
        }
    }
    BLAS(cublasDestroy_v2(handle));
    std::puts("right");
}
