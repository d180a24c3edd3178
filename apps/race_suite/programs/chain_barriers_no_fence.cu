// race: ptx=race(write-read,inter-block,8,17) barracuda=race(write-read,inter-block,8,17)+lines(8,10,13,17) | block barriers around the flag, but no fence: a block barrier reaches its own block only (MP)
__device__ int data[64], out[64];
__device__ volatile int flag;

__global__ void chain() {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
        __syncthreads();
        if (t == 0) flag = 1;
    } else {
        if (t == 0) {
            while (flag == 0) {
            }
        }
        __syncthreads();
        out[t] = data[63 - t];
    }
}

int main() {
    chain<<<2, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
