// race: ptx=any barracuda=race(barrier-divergence,intra-warp/intra-block/divergence,9,13)+lines(7,8,9,10,12,13,14) fault=yes | half a warp meets one __syncthreads() and half of it another: an aligned barrier needs whole warps, and the virtual GPU stops the kernel
__device__ int out[32];

__global__ void sides() {
    __shared__ int slot[32];
    int t = threadIdx.x;
    if (t < 16) {
        slot[t] = 3 * t;
        __syncthreads();
        out[t] = slot[31 - t];
    } else {
        slot[t] = 5 * t;
        __syncthreads();
        out[t] = slot[31 - t] + 1;
    }
}

int main() {
    sides<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
