// race: ptx=none barracuda=any arch=sm_80 | __syncwarp() tells the warp that the mbarrier is initialised, and that it has been used before it ends
__device__ int out[32];

__global__ void phase() {
    __shared__ int tile[32];
    __shared__ unsigned long long barrier;
    int t = threadIdx.x;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    for (int i = 0; i < 3; i++) {
        if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at) : "memory");
        __syncwarp();
        tile[t] = i * t;
        unsigned long long state;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
        int done;
        do {
            asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(at), "l"(state) : "memory");
        } while (!done);
        out[t] = tile[31 - t];
        __syncwarp();
        if (t == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
    }
}

int main() {
    phase<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
