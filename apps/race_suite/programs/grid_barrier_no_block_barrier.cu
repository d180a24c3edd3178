// race: ptx=race(write-read,inter-block,6,16) barracuda=race(write-read,inter-block,6,16)+lines(6,9,11,16) | thread 0 arrives for its block before the other warp has written: no block barrier stands before the arrival
__device__ int data[128], out[128], arrived;

__global__ void rotate() {
    int t = blockIdx.x * 64 + threadIdx.x;
    data[t] = t;
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
