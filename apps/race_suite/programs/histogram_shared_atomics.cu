// race: ptx=none barracuda=none | bins are filled by atomics of the block; barriers stand between clearing, filling and reading
__device__ int out[16];

__global__ void histogram() {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[t * 7 % 16], 1);
    __syncthreads();
    if (t < 16) atomicAdd(&out[t], bins[t]);
}

int main() {
    histogram<<<2, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
