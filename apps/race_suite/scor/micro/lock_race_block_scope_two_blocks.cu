// race: ptx=race(write-write,inter-block,6,11)+lines(6,11) barracuda=race(write-read/write-write,inter-block,9,9) hirace=race(write-read/write-write,inter-block,9,9)+lines(6,9,11) scord=race(write-read/write-write,inter-block,9,9)+race(write-write,inter-block,6,11)+lines(6,9,11) | all of the lock is of block scope, its owners in two blocks: its atomics race with each other, and its fences are too narrow; in PTX the volatile counter does not race
__device__ unsigned lock, counter;

__global__ void count() {
    volatile unsigned *cell = &counter;
    while (atomicCAS_block(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    *cell = *cell + 1;
    __threadfence_block();
    atomicExch_block(&lock, 0);
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
