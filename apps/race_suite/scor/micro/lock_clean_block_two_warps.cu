// race: ptx=none barracuda=none hirace=race(write-read/write-write,intra-block,10,10) scord=none | a lock of block scope between two warps of one block; HiRace knows no locks
__device__ unsigned lock, counter;

__global__ void count() {
    if (threadIdx.x % 32 != 0) return;
    volatile unsigned *cell = &counter;
    while (atomicCAS_block(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    *cell = *cell + 1;
    __threadfence_block();
    atomicExch_block(&lock, 0);
}

int main() {
    count<<<1, 33>>>();
    unsigned got = 0;
    if (cudaMemcpyFromSymbol(&got, counter, sizeof(got)) != cudaSuccess) return 1;
    return got != 2;
}
