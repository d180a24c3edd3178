// race: ptx=none barracuda=none arch=sm_80 | a thread that reads only what it copied itself needs the wait and no barrier
__device__ int in[64], out[64];

__global__ void copy() {
    __shared__ int tile[64];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&in[t]) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    out[t] = tile[t];
}

int main() {
    copy<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
