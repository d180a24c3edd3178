// race: ptx=race(write-read/write-write,inter-block,7,7) barracuda=race(write-read/write-write,inter-block,7,7) | the fence behind the compare-and-swap is missing: the lock is taken without an acquire (MP through the lock)
__device__ int lock, counter;

__global__ void count() {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    counter++;
    __threadfence();
    atomicExch(&lock, 0);
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
