// race: ptx=none barracuda=none hirace=race(write-read/write-write,inter-block,9,9) scord=race(write-read/write-write,inter-block,9,9) | the fence before the exchange is of block scope: too narrow for ScoRD, while BARRACUDA takes one global fence of the two for enough and in PTX volatile accesses do not race
__device__ unsigned lock, counter;

__global__ void count() {
    volatile unsigned *cell = &counter;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    *cell = *cell + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
