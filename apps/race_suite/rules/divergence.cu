// race: ptx=none barracuda=race(barrier-divergence,intra-warp/intra-block/divergence,6,8)+lines(5,6,8) hirace=none scord=none | each half of a warp comes to a barrier of its own that counts threads
__device__ int out[32];

__global__ void sides() {
    if (threadIdx.x < 16) {
        asm volatile("barrier.sync 0;" ::: "memory");
    } else {
        asm volatile("barrier.sync 0;" ::: "memory");
    }
    out[threadIdx.x] = 1;
}

int main() {
    sides<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
