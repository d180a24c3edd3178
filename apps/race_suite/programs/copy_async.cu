// race: ptx=none barracuda=none arch=sm_80 | cp.async, wait for all of its own, block barrier, then reads of others' elements
__device__ int in[64], out[64];

__global__ void reverse() {
    __shared__ int tile[64];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&in[t]) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[t] = tile[63 - t];
}

int main() {
    reverse<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
