// race: ptx=race(write-read,intra-block,8,10) barracuda=any arch=sm_80 | a block barrier without a wait before it: the barrier does not cover copies that are under way
__device__ int in[64], out[64];

__global__ void reverse() {
    __shared__ int tile[64];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&in[t]) : "memory");
    __syncthreads();
    out[t] = tile[63 - t];
}

int main() {
    reverse<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
