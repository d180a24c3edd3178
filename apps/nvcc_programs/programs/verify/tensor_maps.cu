// nvcc program: -arch=sm_90
// Two tiles for one phase of a barrier, by maps in a structure of parameters; as many bytes are expected as the argument says.
#include "../check.h"
#include <cstdlib>
#include <cuda.h>
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

const int N = 64;

struct Work {
    int expected;
    int *out;
    CUtensorMap eight, four;
};

__global__ void sum(const __grid_constant__ Work work) {
    __shared__ alignas(128) int eight[8][32];
    __shared__ alignas(128) int four[4][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        init(&full, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_global_to_shared(&eight, &work.eight, 0, 0, full);
        cde::cp_async_bulk_tensor_2d_global_to_shared(&four, &work.four, 32, 8, full);
        token = cuda::device::barrier_arrive_tx(full, 1, work.expected);
    } else {
        token = full.arrive();
    }
    full.wait(std::move(token));
    work.out[threadIdx.x] = eight[threadIdx.x / 8][threadIdx.x % 8] + four[threadIdx.x / 16][threadIdx.x % 16];
}

static decltype(cuTensorMapEncodeTiled) *encode;

static CUtensorMap map_of(int *tensor, cuuint32_t rows) {
    CUtensorMap map{};
    cuuint64_t extents[] = {N, N}, strides[] = {N * sizeof(int)};
    cuuint32_t box[] = {32, rows}, steps[] = {1, 1};
    EXPECT("encoding", encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, tensor, extents, strides, box, steps,
                              CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE), CUDA_SUCCESS);
    return map;
}

int main(int argc, char **argv) {
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
    int *tensor, *out;
    CHECK(cudaMalloc(&tensor, N * N * sizeof(int)));
    CHECK(cudaMalloc(&out, 64 * sizeof(int)));
    CHECK(cudaMemset(tensor, 0, N * N * sizeof(int)));
    Work work{argc > 1 ? atoi(argv[1]) : 12 * 32 * 4, out, map_of(tensor, 8), map_of(tensor, 4)};
    sum<<<2, 64>>>(work);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
