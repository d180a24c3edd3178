// race: ptx=race(write-read,intra-warp,12,10)+race(write-read,intra-block,12,10) barracuda=race(write-read,intra-block,12,10) | the barrier at the end of a step is missing: the next step reads sums that others wrote in this one (MP without any edge)
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
    }
    out[t] = sums[t];
}

int main() {
    scan<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
