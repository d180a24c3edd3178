// mbarrier: arrivals and tests by state and parity, dropping, pending counts, several phases.
// nvcc: -ptx -lineinfo -arch=compute_90
//! buffer out u32 256
//! launch phases 1 64 : out
//! expect out = 2016@64 2016@64 2016@64 63@64
//! seeds 8
#include <cuda_awbarrier_primitives.h>
extern "C" __global__ void phases(unsigned *out)
{
    __shared__ __mbarrier_t barrier;
    __shared__ unsigned values[64];
    unsigned i = threadIdx.x;
    if (i == 0)
        __mbarrier_init(&barrier, 64);
    __syncthreads();
    for (unsigned round = 0; round < 3; round++) {
        values[(i + round) % 64] = i;
        __mbarrier_token_t token = __mbarrier_arrive(&barrier);
        if (round & 1)
            while (!__mbarrier_test_wait_parity(&barrier, 1)) {}
        else
            while (!__mbarrier_test_wait(&barrier, token)) {}
        unsigned sum = 0;
        for (unsigned k = 0; k < 64; k++)
            sum += values[k];
        out[round * 64 + i] = sum;
        __syncthreads();
    }
    // Thread 63 drops out; the next phase takes 63 arrivals.
    if (i == 63)
        __mbarrier_arrive_and_drop(&barrier);
    else {
        __mbarrier_token_t token = __mbarrier_arrive(&barrier);
        while (!__mbarrier_test_wait(&barrier, token)) {}
    }
    __syncthreads();
    if (i == 0)
        values[0] = __mbarrier_token_pending_count(__mbarrier_arrive(&barrier));
    __syncthreads();
    out[192 + i] = values[0];
}
