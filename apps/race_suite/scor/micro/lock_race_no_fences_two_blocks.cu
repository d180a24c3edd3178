// race: ptx=none barracuda=race(write-read/write-write,inter-block,8,8) hirace=race(write-read/write-write,inter-block,8,8) scord=race(write-read/write-write,inter-block,8,8) | the lock has no fences: what it protects is volatile and does not race in PTX, ScoRD misses a fence of the device
__device__ unsigned lock, counter;

__global__ void count() {
    volatile unsigned *cell = &counter;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    *cell = *cell + 1;
    atomicExch(&lock, 0);
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
