// race: ptx=none barracuda=none hirace=race(write-read/write-write,inter-block,9,9) scord=race(write-read/write-write,inter-block,9,9) | the second block passes the fence behind the compare-and-swap by: to ScoRD it holds no lock, BARRACUDA goes by the text, where the fence stands; in PTX volatile accesses do not race
__device__ unsigned lock, counter;

__global__ void count() {
    volatile unsigned *cell = &counter;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    if (blockIdx.x == 0) __threadfence();
    *cell = *cell + 1;
    __threadfence();
    atomicExch(&lock, 0);
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
