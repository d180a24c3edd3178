// race: ptx=race(write-write,inter-block,6,11)+lines(6,11) barracuda=none hirace=race(write-read/write-write,inter-block,9,9)+lines(6,9,11) scord=race(write-write,inter-block,6,11)+lines(6,9,11) | the atomics of the lock are of block scope, its owners in two blocks: they race with each other, and what they protect is protected in each block only, which the wide fences may hide; BARRACUDA knows no scopes of atomics
__device__ unsigned lock, counter;

__global__ void count() {
    volatile unsigned *cell = &counter;
    while (atomicCAS_block(&lock, 0, 1) != 0) {
    }
    __threadfence();
    *cell = *cell + 1;
    __threadfence();
    atomicExch_block(&lock, 0);
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
