// race: ptx=race(write-read,intra-warp/intra-block/divergence,8,10) barracuda=any arch=sm_80 | a thread reads what its own cp.async writes without waiting for it
__device__ int in[64], out[64];

__global__ void copy() {
    __shared__ int tile[64];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&in[t]) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    out[t] = tile[t];
}

int main() {
    copy<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
