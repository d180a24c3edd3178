// race: ptx=race(write-read/write-write,intra-block,9,9) barracuda=race(write-read/write-write,intra-block,9,9) | threads of two warps count in one bin by load, add and store (a lost update, CoWW)
__device__ int out[32];

__global__ void histogram() {
    __shared__ int bins[32];
    int t = threadIdx.x;
    if (t < 32) bins[t] = 0;
    __syncthreads();
    bins[t % 32] += t;
    __syncthreads();
    if (t < 32) out[t] = bins[t];
}

int main() {
    histogram<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
