// race: ptx=race(write-read,intra-warp/intra-block/divergence,15,18) barracuda=any arch=sm_90 | a block barrier stands where the wait for the bulk copy's phase should
__device__ alignas(16) int in[64];
__device__ int out[64];

__global__ void fetch() {
    __shared__ alignas(16) int tile[64];
    __shared__ unsigned long long barrier;
    int t = threadIdx.x;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier), to = (unsigned)__cvta_generic_to_shared(tile);
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(at) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(to), "l"(in), "r"(at) : "memory");
    }
    __syncthreads();
    out[t] = tile[63 - t];
    int done;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at) : "memory");
    } while (!done);
}

int main() {
    fetch<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
