// race: ptx=race(write-read,intra-block,11,19) barracuda=race(write-read,intra-block,11,19) arch=sm_80 | one thread waits for the phase and the others read without a block barrier behind its wait
__device__ int out[64];

__global__ void phase() {
    __shared__ int tile[64];
    __shared__ unsigned long long barrier;
    int t = threadIdx.x;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    __syncthreads();
    tile[t] = 3 * t;
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    int done = t != 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at), "l"(state) : "memory");
    }
    out[t] = tile[63 - t];
}

int main() {
    phase<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
