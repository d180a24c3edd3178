// race: ptx=race(write-read,intra-block,13,18) barracuda=any arch=sm_80 | two stages without a barrier behind the reads: a stage is filled again while another warp still reads it (LB)
__device__ int in[4 * 64], out[64];

__global__ void stages() {
    __shared__ int tile[2][64];
    int t = threadIdx.x, sum = 0;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[0][t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&in[t]) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int i = 0; i < 4; i++) {
        if (i < 3) {
            unsigned next = (unsigned)__cvta_generic_to_shared(&tile[(i + 1) % 2][t]);
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(next), "l"(&in[64 * (i + 1) + t]) : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        sum += tile[i % 2][63 - t];
    }
    out[t] = sum;
}

int main() {
    stages<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
