// race: ptx=none barracuda=none | the block fills the tile, a barrier follows, and then a warp loads it as a matrix
#include <mma.h>

__device__ float product[256];

__global__ void square() {
    using namespace nvcuda::wmma;
    __shared__ half tile[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        tile[i] = __int2half_rn(i % 7);
    }
    __syncthreads();
    if (threadIdx.x / 32 == 1) {
        fragment<matrix_a, 16, 16, 16, half, row_major> left;
        fragment<matrix_b, 16, 16, 16, half, row_major> right;
        fragment<accumulator, 16, 16, 16, float> sum;
        fill_fragment(sum, 0.0f);
        load_matrix_sync(left, tile, 16);
        load_matrix_sync(right, tile, 16);
        mma_sync(sum, left, right, sum);
        store_matrix_sync(product, sum, 16, mem_row_major);
    }
}

int main() {
    square<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
