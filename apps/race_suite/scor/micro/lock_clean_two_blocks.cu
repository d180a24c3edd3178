// race: ptx=none barracuda=none hirace=race(write-read/write-write,inter-block,9,9) scord=none | a lock of device scope between two blocks; HiRace knows no locks
__device__ unsigned lock, counter;

__global__ void count() {
    volatile unsigned *cell = &counter;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    *cell = *cell + 1;
    __threadfence();
    atomicExch(&lock, 0);
}

int main() {
    count<<<2, 1>>>();
    unsigned got = 0;
    if (cudaMemcpyFromSymbol(&got, counter, sizeof(got)) != cudaSuccess) return 1;
    return got != 2;
}
