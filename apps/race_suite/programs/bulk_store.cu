// race: ptx=none barracuda=none arch=sm_90 | each writer of the tile fences its proxy before the barrier behind which one thread sends the tile off
__device__ alignas(16) int out[64];

__global__ void send() {
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x;
    tile[t] = 3 * t;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        unsigned from = (unsigned)__cvta_generic_to_shared(tile);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(out), "r"(from) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main() {
    send<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
