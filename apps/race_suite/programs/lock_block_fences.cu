// race: ptx=race(write-read/write-write,inter-block,8,8) barracuda=race(write-read/write-write,inter-block,8,8) | the lock is taken by threads of different blocks, its fences are of block scope (MP through the lock)
__device__ int lock, counter;

__global__ void count() {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    counter++;
    __threadfence_block();
    atomicExch(&lock, 0);
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
