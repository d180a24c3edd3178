// race: ptx=none barracuda=none | a barrier of the whole grid: block barrier, fence, atomic, fence, wait, fence, block barrier
__device__ int data[128], out[128], arrived;

__global__ void rotate() {
    int t = blockIdx.x * 64 + threadIdx.x;
    data[t] = t;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1);
        __threadfence();
        while (*(volatile int *)&arrived != 2) {
        }
        __threadfence();
    }
    __syncthreads();
    out[t] = data[127 - t];
}

int main() {
    rotate<<<2, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
