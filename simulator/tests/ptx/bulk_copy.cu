// cp.async.bulk in and out: one thread copies, an mbarrier counts the bytes, a group is waited for; a reduction.
// nvcc: -ptx -lineinfo -arch=compute_90
//! buffer in u32 256 = 0..256
//! buffer out u32 512
//! launch bulk 1 128 : out in
//! expect out = 1..257 0..256*2+2
//! seeds 8
#include <cuda/barrier>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
extern "C" __global__ void bulk(unsigned *out, const unsigned *in)
{
    __shared__ alignas(16) unsigned tile[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(sizeof tile), barrier);
        token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile);
    } else {
        token = barrier.arrive();
    }
    barrier.wait(std::move(token));
    tile[threadIdx.x] += 1;
    tile[128 + threadIdx.x] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + 256, tile, sizeof tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out + 256, tile, sizeof tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
