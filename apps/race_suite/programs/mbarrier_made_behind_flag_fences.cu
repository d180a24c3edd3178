// race: ptx=none barracuda=any arch=sm_80 | a fence before the flag releases the initialisation of the mbarrier, and one behind it acquires that
__device__ int out[64];

__global__ void phase() {
    __shared__ int tile[64];
    __shared__ unsigned long long barrier;
    __shared__ volatile int ready[1];
    int t = threadIdx.x;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (t == 0) ready[0] = 0;
    __syncthreads();
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(at) : "memory");
        __threadfence_block();
        ready[0] = 1;
    }
    if (t == 0 || t == 32) {
        while (ready[0] != 1) {
        }
        __threadfence_block();
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    }
    tile[t] = t;
    out[t] = tile[t];
}

int main() {
    phase<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
