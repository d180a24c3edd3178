// race: ptx=none barracuda=none | shared memory of many blocks at the same offsets is not the same memory
__device__ int out[16];

__global__ void each() {
    __shared__ int value;
    if (threadIdx.x == 0) value = blockIdx.x;
    __syncthreads();
    out[blockIdx.x * 2 + threadIdx.x] = value + 1;
}

int main() {
    each<<<8, 2>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
