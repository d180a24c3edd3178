// race: ptx=none barracuda=race(write-read/write-write,intra-block,10,10) hirace=race(write-read/write-write,intra-block,10,10) scord=race(write-read/write-write,intra-block,10,10) | the same in one block
__device__ unsigned lock, counter;

__global__ void count() {
    if (threadIdx.x % 32 != 0) return;
    volatile unsigned *cell = &counter;
    while (atomicCAS_block(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    *cell = *cell + 1;
    atomicExch_block(&lock, 0);
}

int main() {
    count<<<1, 33>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
