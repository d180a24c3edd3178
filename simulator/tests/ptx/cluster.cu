// A cluster of four blocks: ranks, the barrier, each other's shared memory by load, store and atomic.
// nvcc: -ptx -lineinfo -arch=compute_90
//! buffer out u32 512
//! launch ring 8 32 : out
//! expect out = 100..132 200..232 300..332 0..32 100..132 200..232 300..332 0..32 128@32 128@32 128@32 128@32 128@32 128@32 128@32 128@32
//! seeds 8
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4, 1, 1) ring(unsigned *out)
{
    __shared__ unsigned values[32], count;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), i = threadIdx.x;
    values[i] = rank * 100 + i;
    count = 0;
    cluster.sync();
    out[blockIdx.x * 32 + i] = cluster.map_shared_rank(values, (rank + 1) % size)[i];
    for (unsigned r = 0; r < size; r++)
        atomicAdd(cluster.map_shared_rank(&count, r), 1);
    cluster.sync();
    out[256 + blockIdx.x * 32 + i] = *cluster.map_shared_rank(&count, cluster.query_shared_rank(&count) ^ 1);
    cluster.sync();
}
