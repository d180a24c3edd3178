// race: ptx=none barracuda=race(write-read/write-write,inter-block,9,9) hirace=race(write-read/write-write,inter-block,9,9) scord=race(write-read/write-write,inter-block,9,9) | the fences of the lock are of block scope, its owners in two blocks; in PTX volatile accesses do not race
__device__ unsigned lock, counter;

__global__ void count() {
    volatile unsigned *cell = &counter;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    *cell = *cell + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
