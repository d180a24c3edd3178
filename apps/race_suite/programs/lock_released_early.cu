// race: ptx=race(write-read/write-write,inter-block,11,8)+race(write-write,inter-block,11,11)+lines(8,11) barracuda=race(write-write,inter-block,11,11)+lines(8,11) | the counter is written after the lock was given back
__device__ int lock, counter;

__global__ void count() {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    int next = counter + 1;
    __threadfence();
    atomicExch(&lock, 0);
    counter = next;
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
