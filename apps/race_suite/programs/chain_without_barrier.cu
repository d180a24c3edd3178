// race: ptx=race(write-read,inter-block,8,20) barracuda=race(write-read,inter-block,8,20)+lines(8,11,15,20) | the writers' block has no barrier before one of its threads releases: what the other warp wrote is not covered
__device__ int data[64], out[64];
__device__ volatile int flag;

__global__ void chain() {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
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
