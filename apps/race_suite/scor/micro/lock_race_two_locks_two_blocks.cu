// race: ptx=none barracuda=race(write-read/write-write,inter-block,10,10) hirace=race(write-read/write-write,inter-block,10,10) scord=race(write-read/write-write,inter-block,10,10) | each block takes a lock of its own; in PTX volatile accesses do not race, though a count may be lost
__device__ unsigned locks[2], counter;

__global__ void count() {
    volatile unsigned *cell = &counter;
    unsigned *lock = &locks[blockIdx.x];
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *cell = *cell + 1;
    __threadfence();
    atomicExch(lock, 0);
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
