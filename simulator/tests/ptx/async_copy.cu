// cp.async of all sizes, filling with zeros, groups that complete in order, and arrival on a barrier.
// nvcc: -ptx -lineinfo -arch=compute_80
//! buffer in u32 512 = 0..512
//! buffer out u32 256
//! launch copies 1 64 : out in
//! expect out = 0..64*4+3 0..64*2 64..128 0..64*4+252
//! seeds 8
#include <cuda_pipeline.h>
extern "C" __global__ void copies(unsigned *out, const unsigned *in)
{
    __shared__ alignas(16) unsigned a[256], b[128], c[64], d[256];
    __shared__ __mbarrier_t barrier;
    unsigned i = threadIdx.x;
    if (i == 0)
        __mbarrier_init(&barrier, blockDim.x);
    __syncthreads();
    b[2 * i + 1] = 7;
    __pipeline_memcpy_async(a + 4 * i, in + 4 * i, 16);
    __pipeline_commit();
    __pipeline_memcpy_async(b + 2 * i, in + 2 * i, 8, 4);
    __pipeline_commit();
    __pipeline_memcpy_async(c + i, in + 64 + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(2);
    out[i] = a[4 * i + 3];
    __pipeline_wait_prior(1);
    out[64 + i] = b[2 * i] + b[2 * i + 1];
    __pipeline_wait_prior(0);
    out[128 + i] = c[i];
    __pipeline_memcpy_async(d + 4 * i, in + 4 * i, 16);
    __pipeline_arrive_on(&barrier);
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {}
    out[192 + i] = d[4 * (63 - i)] + 8 * i;
}
