// Instructions that are not taken apart: tensor cores and matrix loads. Everything drains before them.
#include <mma.h>

extern "C" __global__ void tensor(half *a, half *b, float *c) {
    using namespace nvcuda;
    __shared__ half tile[256];
    for (int k = threadIdx.x; k < 256; k += 32) tile[k] = a[k];
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, tile, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    c[threadIdx.x] += 1;
}

extern "C" __global__ void matrices(unsigned *out) {
    __shared__ __align__(16) unsigned short tile[64];
    tile[threadIdx.x] = threadIdx.x;
    tile[threadIdx.x + 32] = threadIdx.x;
    unsigned r, address = (unsigned)__cvta_generic_to_shared(tile + 8 * (threadIdx.x & 7));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(address) : "memory");
    out[threadIdx.x] = r;
}
