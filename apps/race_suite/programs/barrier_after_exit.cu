// race: ptx=none barracuda=none | one warp ends early, the others pass their barrier without it and read nothing of its own
__device__ int out[96];

__global__ void early() {
    __shared__ int slot[96];
    int t = threadIdx.x;
    slot[t] = 3 * t;
    if (t >= 64) return;
    __syncthreads();
    out[t] = slot[63 - t];
}

int main() {
    early<<<1, 96>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
