// race: ptx=none barracuda=race(barrier-divergence,intra-warp/intra-block/divergence,9,13)+lines(7,8,9,10,12,13,14) | each half of the warp meets an unaligned barrier 0 on its side of a branch: PTX counts threads and is content, BARRACUDA wants all threads active at one barrier
__device__ int out[32];

__global__ void sides() {
    __shared__ int slot[32];
    int t = threadIdx.x;
    if (t < 16) {
        slot[t] = 3 * t;
        asm volatile("barrier.sync 0;" ::: "memory");
        out[t] = slot[31 - t];
    } else {
        slot[t] = 5 * t;
        asm volatile("barrier.sync 0;" ::: "memory");
        out[t] = slot[31 - t] + 1;
    }
}

int main() {
    sides<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
