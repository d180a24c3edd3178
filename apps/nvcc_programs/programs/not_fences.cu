// nvcc program: -lineinfo -arch=compute_75
//
// Programs that fail without any store being delayed, and the same made right. The argument chooses; exit code 1 when the
// result is wrong. Lines that tests look for end in a comment that names them.

#include <cstring>

#include "check.h"

constexpr int kThreads = 64;

template <bool kRight>
__global__ void bump(int *count) {
    if (kRight) {
        atomicAdd(count, 1);
    } else {
        int seen = *count;  // lost-global first
        *count = seen + 1;  // lost-global second
    }
}

template <bool kRight>
__global__ void bump_shared(int *out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (kRight) {
        atomicAdd(&count, 1);
    } else {
        int seen = count;  // lost-shared first
        count = seen + 1;  // lost-shared second
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, count);
}

template <bool kRight>
__global__ void histogram(const int *values, int *bins) {
    __shared__ int own[8];
    if (threadIdx.x < 8) own[threadIdx.x] = 0;
    __syncthreads();
    int value = values[blockIdx.x * kThreads + threadIdx.x];
    if (kRight) {
        atomicAdd(&own[value], 1);
    } else {
        int seen = own[value];  // histogram first
        own[value] = seen + 1;  // histogram second
    }
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

template <bool kRight>
__global__ void reset(int *out) {
    __shared__ int count;
    if (threadIdx.x == 40) count = 0;  // reset first
    if (kRight) __syncthreads();
    atomicAdd(&count, 1);  // reset second
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, count);
}

template <bool kRight>
__global__ void mirror(const int *values, int *out) {
    __shared__ int tile[kThreads];
    int base = blockIdx.x * kThreads;
    tile[threadIdx.x] = values[base + threadIdx.x];  // barrier write
    if (kRight) __syncthreads();
    out[base + threadIdx.x] = tile[kThreads - 1 - threadIdx.x];  // barrier read
}

template <bool kRight>
__global__ void reduce_warp(const int *values, int *out) {
    __shared__ int sums[kThreads];
    int lane = threadIdx.x % 32;
    int sum = values[blockIdx.x * kThreads + threadIdx.x];
    sums[threadIdx.x] = sum;
    __syncwarp();
    for (int by = 16; by > 0; by /= 2) {
        if (lane < by) sum += sums[threadIdx.x + by];  // warp read
        if (kRight) __syncwarp();
        sums[threadIdx.x] = sum;  // warp write
        if (kRight) __syncwarp();
    }
    if (lane == 0) atomicAdd(out, sum);
}

template <bool kRight>
__global__ void narrow(int *count) {
    if (kRight) {
        atomicAdd(count, 1);
    } else {
        atomicAdd_block(count, 1);  // scope first
    }
}

static void run(const char *which, const int *values, int *out) {
    constexpr int kBlocks = 4;
    bool right = !strncmp(which, "right-", 6);
    if (right) which += 6;
#define CASE(name, kernel, ...) \
    if (!strcmp(which, name)) right ? kernel<true><<<kBlocks, kThreads>>>(__VA_ARGS__) : kernel<false><<<kBlocks, kThreads>>>(__VA_ARGS__);
    CASE("lost-global", bump, out)
    CASE("lost-shared", bump_shared, out)
    CASE("histogram", histogram, values, out)
    CASE("reset", reset, out)
    CASE("barrier", mirror, values, out)
    CASE("warp", reduce_warp, values, out)
    CASE("scope", narrow, out)
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    int got[4 * kThreads], bins[8] = {}, sum = 0;
    int host[4 * kThreads];
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    for (int value : host) bins[value]++, sum += value;
    if (!strcmp(which, "histogram")) {
        for (int bin = 0; bin < 8; bin++) EXPECT("bin", got[bin], bins[bin]);
    } else if (!strcmp(which, "barrier")) {
        for (int i = 0; i < 4 * kThreads; i++) EXPECT("mirrored", got[i], host[i / kThreads * kThreads + kThreads - 1 - i % kThreads]);
    } else if (!strcmp(which, "warp")) {
        EXPECT("sum", got[0], sum);
    } else {
        EXPECT("count", got[0], 4 * kThreads);
    }
}

int main(int argc, char **argv) {
    int *values, *out, host[4 * kThreads];
    Noise noise{7};
    for (int &value : host) value = noise.next() % 8;
    CHECK(cudaMalloc(&values, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, sizeof host));
    run(argc > 1 ? argv[1] : "", values, out);
}
