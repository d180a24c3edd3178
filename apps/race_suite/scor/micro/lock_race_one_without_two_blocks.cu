// race: ptx=none barracuda=race(write-read/write-write,inter-block,11,11) hirace=race(write-read/write-write,inter-block,11,11) scord=race(write-read/write-write,inter-block,11,11) | the second block takes no lock; in PTX volatile accesses do not race, though a count may be lost
__device__ unsigned lock, counter;

__global__ void count() {
    volatile unsigned *cell = &counter;
    if (blockIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence();
    }
    *cell = *cell + 1;
    if (blockIdx.x == 0) {
        __threadfence();
        atomicExch(&lock, 0);
    }
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
