// race: ptx=race(write-write,intra-block,7,8) barracuda=race(write-write,intra-block,7,8)+lines(7,8,10) | the barrier between clearing the bins and the atomics of the other warp is missing: a plain store and an atomic at the same bytes
__device__ int out[16];

__global__ void histogram() {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    if (t >= 32) atomicAdd(&bins[t % 16], 1);
    __syncthreads();
    if (t < 16) out[t] = bins[t];
}

int main() {
    histogram<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
