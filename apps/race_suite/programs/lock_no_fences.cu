// race: ptx=race(write-read/write-write,inter-block,7,7) barracuda=race(write-read/write-write,inter-block,7,7) | mutual exclusion without fences: the next owner may not see the last one's write (MP through the lock)
__device__ int lock, counter;

__global__ void count() {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    counter++;
    atomicExch(&lock, 0);
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
