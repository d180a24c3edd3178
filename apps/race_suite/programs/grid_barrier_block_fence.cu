// race: ptx=race(write-read,inter-block,6,17) barracuda=race(write-read,inter-block,6,17)+lines(6,10,12,17) | a barrier of the whole grid whose fences are of block scope
__device__ int data[128], out[128], arrived;

__global__ void rotate() {
    int t = blockIdx.x * 64 + threadIdx.x;
    data[t] = t;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_block();
        atomicAdd(&arrived, 1);
        __threadfence_block();
        while (*(volatile int *)&arrived != 2) {
        }
        __threadfence_block();
    }
    __syncthreads();
    out[t] = data[127 - t];
}

int main() {
    rotate<<<2, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
