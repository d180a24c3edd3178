// race: ptx=none barracuda=none | a block barrier before the release and one behind the acquire: the fences of one thread cover what its whole block did before
__device__ int data[64], out[64];
__device__ volatile int flag;

__global__ void chain() {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            flag = 1;
        }
    } else {
        if (t == 0) {
            while (flag == 0) {
            }
            __threadfence();
        }
        __syncthreads();
        out[t] = data[63 - t];
    }
}

int main() {
    chain<<<2, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
