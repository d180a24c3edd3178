// race: ptx=race(write-read,inter-block,6,14) barracuda=race(write-read,inter-block,6,14)+lines(6,9,10,14) | a barrier of the whole grid without fences (MP, or SB of two arrivals)
__device__ int data[128], out[128], arrived;

__global__ void rotate() {
    int t = blockIdx.x * 64 + threadIdx.x;
    data[t] = t;
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1);
        while (*(volatile int *)&arrived != 2) {
        }
    }
    __syncthreads();
    out[t] = data[127 - t];
}

int main() {
    rotate<<<2, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
