// nvcc program: -arch=sm_90
// Tiles of tensors, copied to shared memory and back by their maps: at the edges, swizzled, reduced, in three dimensions.
#include "check.h"
#include <cuda.h>
#include <cuda/barrier>
#include <vector>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

const int WIDTH = 64, HEIGHT = 40, W = 32, H = 8;

// Adds 1000 to the elements of a tile that are in the tensor, and tells what it saw of the others.
__global__ void shift(const __grid_constant__ CUtensorMap map, int x, int y, int *outside) {
    __shared__ alignas(128) int tile[H][W];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        init(&full, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, x, y, full);
        token = cuda::device::barrier_arrive_tx(full, 1, sizeof tile);
    } else {
        token = full.arrive();
    }
    full.wait(std::move(token));
    for (int i = threadIdx.x; i < W * H; i += blockDim.x) {
        int column = x + i % W, row = y + i / W;
        bool inside = column >= 0 && column < WIDTH && row >= 0 && row < HEIGHT;
        if (!inside && tile[i / W][i % W] != 0) atomicAdd(outside, 1);
        tile[i / W][i % W] += 1000;
    }
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &tile);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
        (&full)->~barrier();
    }
}

// A box of three dimensions, swizzled in rows of 128 bytes: what lies where, and added to the tensor again.
__global__ void swizzled(const __grid_constant__ CUtensorMap map, int *wrong) {
    __shared__ alignas(1024) float tile[2][4][32];
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        init(&full, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_3d_global_to_shared(&tile, &map, 32, 2, 1, full);
        token = cuda::device::barrier_arrive_tx(full, 1, sizeof tile);
    } else {
        token = full.arrive();
    }
    full.wait(std::move(token));
    for (int i = threadIdx.x; i < 2 * 4 * 32; i += blockDim.x) {
        int z = i / 128, y = i / 32 % 4, x = i % 32, row = z * 4 + y;
        float found = (&tile[0][0][0])[row * 32 + ((x / 4 ^ row % 8) * 4 + x % 4)];
        float expected = ((z + 1) * 16 + (y + 2)) * 64 + (x + 32);
        if (found != expected) atomicAdd(wrong, 1);
    }
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned from = __cvta_generic_to_shared(&tile);
        asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
                     :: "l"(&map), "r"(32), "r"(2), "r"(1), "r"(from) : "memory");
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
        (&full)->~barrier();
    }
}

static decltype(cuTensorMapEncodeTiled) *encode;

template <typename T>
static CUtensorMap map_of(CUtensorMapDataType type, T *tensor, std::vector<cuuint64_t> extents, std::vector<cuuint32_t> box,
                          CUtensorMapSwizzle swizzle) {
    CUtensorMap map{};
    cuuint64_t strides[5] = {extents[0] * sizeof(T)};
    for (size_t i = 1; i < extents.size(); i++) strides[i] = strides[i - 1] * extents[i];
    cuuint32_t steps[5] = {1, 1, 1, 1, 1};
    EXPECT("encoding", encode(&map, type, extents.size(), tensor, extents.data(), strides, box.data(), steps,
                              CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE), CUDA_SUCCESS);
    return map;
}

int main() {
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
    int *tensor, *counts, told[2], host[HEIGHT][WIDTH];
    CHECK(cudaMalloc(&tensor, sizeof host));
    CHECK(cudaMalloc(&counts, sizeof told));
    CHECK(cudaMemset(counts, 0, sizeof told));
    for (int i = 0; i < WIDTH * HEIGHT; i++) host[i / WIDTH][i % WIDTH] = i;
    CHECK(cudaMemcpy(tensor, host, sizeof host, cudaMemcpyHostToDevice));
    CUtensorMap map = map_of(CU_TENSOR_MAP_DATA_TYPE_INT32, tensor, {WIDTH, HEIGHT}, {W, H}, CU_TENSOR_MAP_SWIZZLE_NONE);
    // One inside, one over each of two edges, one beyond all.
    const int places[][2] = {{4, 3}, {-4, 20}, {48, 36}, {WIDTH, HEIGHT}};
    for (auto place : places) shift<<<1, 64>>>(map, place[0], place[1], counts);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        for (auto place : places) {
            int column = i % WIDTH - place[0], row = i / WIDTH - place[1];
            if (column >= 0 && column < W && row >= 0 && row < H) host[i / WIDTH][i % WIDTH] += 1000;
        }
    std::vector<int> result(WIDTH * HEIGHT);
    CHECK(cudaMemcpy(result.data(), tensor, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < WIDTH * HEIGHT; i++) EXPECT("element", result[i], host[i / WIDTH][i % WIDTH]);

    const int n = 64 * 16 * 4;
    float *box;
    std::vector<float> numbers(n);
    for (int i = 0; i < n; i++) numbers[i] = i;
    CHECK(cudaMalloc(&box, n * sizeof(float)));
    CHECK(cudaMemcpy(box, numbers.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    map = map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, box, {64, 16, 4}, {32, 4, 2}, CU_TENSOR_MAP_SWIZZLE_128B);
    swizzled<<<1, 32>>>(map, counts + 1);
    CHECK(cudaMemcpy(numbers.data(), box, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int x = i % 64, y = i / 64 % 16, z = i / 1024;
        bool twice = x >= 32 && y >= 2 && y < 6 && z >= 1 && z < 3;
        EXPECT("number", numbers[i], float(twice ? 2 * i : i));
    }
    CHECK(cudaMemcpy(told, counts, sizeof told, cudaMemcpyDeviceToHost));
    EXPECT("elements outside that are not zero", told[0], 0);
    EXPECT("swizzled elements elsewhere", told[1], 0);
    return 0;
}
