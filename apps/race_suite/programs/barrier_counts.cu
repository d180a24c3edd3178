// race: ptx=none barracuda=none | __syncthreads_count() is a barrier like __syncthreads()
__device__ int out[64];

__global__ void count() {
    __shared__ int slot[64];
    int t = threadIdx.x;
    slot[t] = t % 5;
    int some = __syncthreads_count(t % 5 == 0);
    out[t] = slot[63 - t] + some;
}

int main() {
    count<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
