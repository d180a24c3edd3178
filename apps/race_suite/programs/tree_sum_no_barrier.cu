// race: ptx=race(write-read,intra-block,10,10)+race(write-read,intra-warp,10,10) barracuda=race(write-read,intra-block,10,10) | the barrier at the end of each step is missing: a step reads sums that other threads wrote in the step before (MP without any edge)
__device__ int out;

__global__ void sum() {
    __shared__ int part[128];
    int t = threadIdx.x;
    part[t] = t;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
    }
    if (t == 0) out = part[0];
}

int main() {
    sum<<<1, 128>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
