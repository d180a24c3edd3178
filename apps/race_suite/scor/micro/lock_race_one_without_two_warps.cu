// race: ptx=none barracuda=race(write-read/write-write,intra-block,12,12) hirace=race(write-read/write-write,intra-block,12,12) scord=race(write-read/write-write,intra-block,12,12) | the second warp takes no lock; in PTX volatile accesses do not race, though a count may be lost
__device__ unsigned lock, counter;

__global__ void count() {
    if (threadIdx.x % 32 != 0) return;
    volatile unsigned *cell = &counter;
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence();
    }
    *cell = *cell + 1;
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(&lock, 0);
    }
}

int main() {
    count<<<1, 33>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
