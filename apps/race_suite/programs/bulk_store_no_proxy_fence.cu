// race: ptx=race(write-read,intra-warp/intra-block/divergence,7,11) barracuda=any arch=sm_90 | the tile is written through the generic proxy and read through the async one with no proxy fence between
__device__ alignas(16) int out[64];

__global__ void send() {
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x;
    tile[t] = 3 * t;
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
