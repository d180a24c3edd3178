// race: ptx=race(write-read,intra-warp/divergence,9,9)+lines(7,9) barracuda=none | warp-synchronous code: the steps lean on lockstep, no __syncwarp() orders them
__device__ int out;

__global__ void sum() {
    __shared__ int part[32];
    int t = threadIdx.x;
    part[t] = t;
    for (int half = 16; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
    }
    if (t == 0) out = part[0];
}

int main() {
    sum<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
