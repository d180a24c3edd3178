// One arrival is missing: everybody waits.
// nvcc: -ptx -lineinfo -arch=compute_90
//! buffer out u32 1
//! launch stuck 1 64 : out
//! end deadlock wait for the mbarrier at 0x0 (1 arrivals and 0 bytes are missing)
#include <cuda/barrier>
extern "C" __global__ void stuck(unsigned *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x + 1);
    __syncthreads();
    barrier.arrive_and_wait();
    *out = 1;
}
