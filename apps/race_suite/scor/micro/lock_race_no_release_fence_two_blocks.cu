// race: ptx=none barracuda=race(write-read/write-write,inter-block,9,9) hirace=race(write-read/write-write,inter-block,9,9) scord=race(write-read/write-write,inter-block,9,9) | no fence before the exchange: both hold the lock, but the next owner may not see what the last one wrote; in PTX volatile accesses do not race all the same
__device__ unsigned lock, counter;

__global__ void count() {
    volatile unsigned *cell = &counter;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    *cell = *cell + 1;
    atomicExch(&lock, 0);
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
