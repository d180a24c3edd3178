// race: ptx=race(write-read,intra-block,9,17) barracuda=race(write-read,intra-block,9,17)+lines(9,10,13,17) hirace=race(write-read,intra-block,10,13) scord=race(write-read,intra-block,10,13) | warp 2 writes and is not at the barrier behind which warp 0 reads
__device__ int cell, out;
__device__ volatile int flag;

__global__ void three() {
    int warp = threadIdx.x / 32;
    if (warp == 2) {
        if (threadIdx.x == 64) {
            cell = 42;
            flag = 1;
        }
    } else {
        while (flag == 0) {
        }
        asm volatile("bar.sync 1, 64;" ::: "memory");
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (threadIdx.x == 0) out = cell;
    }
    __syncthreads();
}

int main() {
    three<<<1, 96>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
