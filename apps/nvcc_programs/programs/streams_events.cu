// nvcc program:
// A pipeline over several streams: copies and kernels in pieces, ordered by events, timed by events, with
// a host function at the end of each piece.
#include <vector>

#include "check.h"

__global__ void scale(const float *in, float *out, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * factor;
}

__global__ void add(const float *a, const float *b, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

static void count(void *counter) { ++*static_cast<int *>(counter); }

int main() {
    const int pieces = 4, n = 1000;
    float *host, *result, *device[3];
    CHECK(cudaMallocHost(&host, pieces * n * sizeof(float)));
    CHECK(cudaMallocHost(&result, pieces * n * sizeof(float)));
    for (float *&buffer : device) CHECK(cudaMalloc(&buffer, pieces * n * sizeof(float)));
    for (int i = 0; i < pieces * n; i++) host[i] = float(i % 97);

    cudaStream_t copying, computing[2];
    CHECK(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
    for (cudaStream_t &stream : computing) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaEvent_t begin, end, copied[pieces], scaled[pieces];
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    int finished = 0;
    CHECK(cudaEventRecord(begin, copying));
    for (int piece = 0; piece < pieces; piece++) {
        size_t at = size_t(piece) * n;
        CHECK(cudaEventCreateWithFlags(&copied[piece], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&scaled[piece], cudaEventDisableTiming));
        CHECK(cudaMemcpyAsync(device[0] + at, host + at, n * sizeof(float), cudaMemcpyHostToDevice, copying));
        CHECK(cudaEventRecord(copied[piece], copying));
        CHECK(cudaStreamWaitEvent(computing[0], copied[piece], 0));
        scale<<<(n + 127) / 128, 128, 0, computing[0]>>>(device[0] + at, device[1] + at, n, 3.0f);
        CHECK(cudaEventRecord(scaled[piece], computing[0]));
        CHECK(cudaStreamWaitEvent(computing[1], scaled[piece], 0));
        add<<<(n + 127) / 128, 128, 0, computing[1]>>>(device[0] + at, device[1] + at, device[2] + at, n);
        CHECK(cudaMemcpyAsync(result + at, device[2] + at, n * sizeof(float), cudaMemcpyDeviceToHost, computing[1]));
        CHECK(cudaLaunchHostFunc(computing[1], count, &finished));
    }
    CHECK(cudaEventRecord(end, computing[1]));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaStreamSynchronize(computing[1]));
    EXPECT("host functions", finished, pieces);
    for (int i = 0; i < pieces * n; i++) EXPECT("element", result[i], 4.0f * host[i]);
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    EXPECT("time passes", milliseconds > 0, true);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
