// race: ptx=race(write-read/write-write,inter-block,8,8) barracuda=race(write-read/write-write,inter-block,8,8) | the fence before the exchange is missing: the lock is given back without a release (MP through the lock)
__device__ int lock, counter;

__global__ void count() {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    counter++;
    atomicExch(&lock, 0);
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
