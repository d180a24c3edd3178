// race: ptx=race(write-write/write-read,inter-block,9,5)+race(write-read/write-write,inter-block,8,8)+lines(5,8,9) barracuda=race(write-read/write-write,inter-block,8,8)+lines(5,8,9) | the lock is given back by a plain store without a fence
__device__ int lock, counter;

__global__ void count() {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    counter++;
    lock = 0;
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
