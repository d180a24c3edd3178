// race: ptx=race(write-read,intra-block,7,9) barracuda=race(write-read,intra-block,7,9) | the barrier between filling the array and the first step is missing (MP without any edge)
__device__ int out;

__global__ void sum() {
    __shared__ int part[128];
    int t = threadIdx.x;
    part[t] = t;
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out = part[0];
}

int main() {
    sum<<<1, 128>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
