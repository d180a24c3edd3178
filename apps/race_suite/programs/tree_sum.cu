// race: ptx=none barracuda=none | every step of the tree ends with a barrier that all threads of the block pass
__device__ int out;

__global__ void sum() {
    __shared__ int part[128];
    int t = threadIdx.x;
    part[t] = t;
    __syncthreads();
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
