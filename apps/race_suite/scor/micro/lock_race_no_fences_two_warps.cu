// race: ptx=none barracuda=race(write-read/write-write,intra-block,9,9) hirace=race(write-read/write-write,intra-block,9,9) scord=race(write-read/write-write,intra-block,9,9) | the lock has no fences: what it protects is volatile and does not race in PTX, ScoRD misses a fence of the block
__device__ unsigned lock, counter;

__global__ void count() {
    if (threadIdx.x % 32 != 0) return;
    volatile unsigned *cell = &counter;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    *cell = *cell + 1;
    atomicExch(&lock, 0);
}

int main() {
    count<<<1, 33>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
