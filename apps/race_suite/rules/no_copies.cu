// race: ptx=race(write-read,intra-warp/intra-block/divergence,8,10) barracuda=any hirace=none scord=none arch=sm_80 | a thread reads what its own asynchronous copy writes, and has not waited for it
__device__ int in[32], out[32];

__global__ void copy() {
    __shared__ int tile[32];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&in[t]) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    out[t] = tile[t];
    asm volatile("cp.async.wait_all;" ::: "memory");
}

int main() {
    copy<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
