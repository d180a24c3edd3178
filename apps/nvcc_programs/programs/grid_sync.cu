// nvcc program:
// A cooperative launch: blocks exchange the ends of their rows in every step, with a barrier of the grid between.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void diffuse(int *now, int *next, int n, int steps, int *total) {
    cg::grid_group grid = cg::this_grid();
    for (int step = 0; step < steps; step++) {
        for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) {
            next[i] = (now[(i + n - 1) % n] + 2 * now[i] + now[(i + 1) % n]) % 10007;
        }
        grid.sync();
        int *swap = now;
        now = next;
        next = swap;
    }
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) sum += now[i];
    sum = cg::reduce(warp, sum, cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(total, sum);
}

int main() {
    int n = 1500, steps = 6;
    std::vector<int> now(n), next(n);
    Noise noise{1};
    for (int &value : now) value = noise.next() % 1000;
    int *a, *b, *total;
    CHECK(cudaMalloc(&a, n * sizeof(int)));
    CHECK(cudaMalloc(&b, n * sizeof(int)));
    CHECK(cudaMalloc(&total, sizeof(int)));
    CHECK(cudaMemcpy(a, now.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(total, 0, sizeof(int)));

    int cooperative = 0, blocks_per_sm = 0;
    CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    EXPECT("cooperative launches", cooperative, 1);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, diffuse, 128, 0));
    EXPECT("blocks fit", blocks_per_sm >= 1, true);
    void *arguments[] = {&a, &b, &n, &steps, &total};
    CHECK(cudaLaunchCooperativeKernel((void *)diffuse, dim3(8), dim3(128), arguments, 0, nullptr));
    CHECK(cudaDeviceSynchronize());

    int sum = 0, got;
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < n; i++) next[i] = (now[(i + n - 1) % n] + 2 * now[i] + now[(i + 1) % n]) % 10007;
        now.swap(next);
    }
    for (int value : now) sum += value;
    CHECK(cudaMemcpy(&got, total, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT("total", got, sum);
    void *too_large[] = {&a, &b, &n, &steps, &total};
    EXPECT("a grid that does not fit",
           cudaLaunchCooperativeKernel((void *)diffuse, dim3(100000), dim3(128), too_large, 0, nullptr),
           cudaErrorCooperativeLaunchTooLarge);
    return 0;
}
