// race: ptx=none barracuda=none | the lock is given back by a volatile store behind a fence: strong, and a release pattern
__device__ int lock, counter;

__global__ void count() {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    counter++;
    __threadfence();
    *(volatile int *)&lock = 0;
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
