#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void warp(int *o, float *f, unsigned long long *l) {
    int t = threadIdx.x;
    unsigned m = __activemask();
    o[t] = __shfl_sync(~0u, t, 3) + __shfl_up_sync(~0u, t, 1) + __shfl_down_sync(~0u, t, 2) +
           __shfl_xor_sync(m, t, 4);
    f[t] = __shfl_down_sync(~0u, f[t], 2);
    l[t] = __shfl_sync(~0u, l[t], 2, 8);
    if (__any_sync(~0u, o[t]))
        o[1] = __ballot_sync(~0u, o[2]);
    if (__all_sync(m, o[5]))
        o[4] = 3;
    o[7] = __match_any_sync(~0u, o[t]);
    int pred;
    o[8] = __match_all_sync(~0u, l[t], &pred) + pred;
    __syncwarp();
    __syncwarp(0xff);
    o[9] = __syncthreads_count(o[t]) + __syncthreads_and(o[t]) + __syncthreads_or(o[t]);
}
__global__ void groups(int *o) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    auto grid = cg::this_grid();
    int v = cg::reduce(tile, o[threadIdx.x], cg::plus<int>());
    tile.sync();
    block.sync();
    auto active = cg::coalesced_threads();
    if (active.thread_rank() == 0)
        atomicAdd(o, v + active.size());
    o[tile.meta_group_rank()] = tile.shfl(v, 0) + tile.any(v);
    grid.sync();
    o[3] = grid.size();
}
__global__ void named(int *o) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    asm volatile("bar.arrive 2, 128;" ::: "memory");
    asm volatile("barrier.sync 3, 32;" ::: "memory");
    o[0] = 1;
    asm volatile("barrier.cta.sync.aligned 4;" ::: "memory");
    asm volatile("bar.sync %0, %1;" ::"r"(o[1]), "r"(64) : "memory");
}
