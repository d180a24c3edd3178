// nvcc program: -arch=sm_80
// A tiled product of half-precision matrices: tiles fetched asynchronously, two stages ahead, and multiplied by tensor cores.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <vector>

#include "check.h"

namespace wmma = nvcuda::wmma;
const int N = 64;

__global__ void multiply(const half *a, const half *b, float *c) {
    __shared__ alignas(32) half tiles[2][2][16 * 16];
    int row = blockIdx.y * 16, column = blockIdx.x * 16, lane = threadIdx.x;
    auto fetch = [&](int stage, int k) {
        // 32 lanes, each 16 bytes of both tiles.
        int r = lane / 2, part = lane % 2 * 8;
        __pipeline_memcpy_async(&tiles[stage][0][r * 16 + part], &a[(row + r) * N + k + part], 16);
        __pipeline_memcpy_async(&tiles[stage][1][r * 16 + part], &b[(k + r) * N + column + part], 16);
        __pipeline_commit();
    };
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    fetch(0, 0);
    for (int k = 0; k < N; k += 16) {
        int stage = k / 16 % 2;
        if (k + 16 < N) {
            fetch(1 - stage, k + 16);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
        wmma::load_matrix_sync(left, tiles[stage][0], 16);
        wmma::load_matrix_sync(right, tiles[stage][1], 16);
        wmma::mma_sync(sum, left, right, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(&c[row * N + column], sum, N, wmma::mem_row_major);
}

int main() {
    std::vector<half> a(N * N), b(N * N);
    std::vector<float> c(N * N);
    Noise noise{5};
    for (half &value : a) value = __float2half(float(noise.next() % 8));
    for (half &value : b) value = __float2half(float(noise.next() % 8));
    half *da, *db;
    float *dc;
    CHECK(cudaMalloc(&da, N * N * sizeof(half)));
    CHECK(cudaMalloc(&db, N * N * sizeof(half)));
    CHECK(cudaMalloc(&dc, N * N * sizeof(float)));
    CHECK(cudaMemcpy(da, a.data(), N * N * sizeof(half), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), N * N * sizeof(half), cudaMemcpyHostToDevice));
    multiply<<<dim3(N / 16, N / 16), 32>>>(da, db, dc);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, N * N * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++) sum += __half2float(a[i * N + k]) * __half2float(b[k * N + j]);
            EXPECT("element", c[i * N + j], sum);
        }
    }
    return 0;
}
