// race: ptx=none barracuda=none | plain store, barrier, atomics of the block, barrier, plain loads
__device__ int out[64];

__global__ void count() {
    __shared__ int counter;
    if (threadIdx.x == 0) counter = 10;
    __syncthreads();
    atomicAdd(&counter, 1);
    __syncthreads();
    out[threadIdx.x] = counter;
}

int main() {
    count<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
