// race: ptx=race(write-read,intra-warp/divergence,11,14) barracuda=none | the matrix is stored by the whole warp, and no __syncwarp() orders the lanes that read it then; lockstep does
#include <mma.h>

__device__ float sums[32];

__global__ void rows() {
    using namespace nvcuda::wmma;
    __shared__ float tile[256];
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 2.0f);
    store_matrix_sync(tile, sum, 16, mem_row_major);
    float total = 0;
    for (int i = 0; i < 8; i++) {
        total += tile[threadIdx.x + 32 * i];
    }
    sums[threadIdx.x] = total;
}

int main() {
    rows<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
