// race: ptx=none barracuda=none | each step reads, passes a barrier, writes, and passes another
__device__ int out[64];

__global__ void scan() {
    __shared__ int sums[64];
    int t = threadIdx.x;
    sums[t] = 1;
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        int left = t >= step ? sums[t - step] : 0;
        __syncthreads();
        sums[t] += left;
        __syncthreads();
    }
    out[t] = sums[t];
}

int main() {
    scan<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
