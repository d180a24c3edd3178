// race: ptx=race(write-write/write-read,inter-block,10,5)+lines(5,8,10) barracuda=none | the lock is given back by a plain store: it races with the atomics of those who wait, and releases nothing, though the order that its two fences are forced into orders the rest; BARRACUDA takes a store behind a fence for a release
__device__ int lock, counter;

__global__ void count() {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    counter++;
    __threadfence();
    lock = 0;
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
