// race: ptx=race(write-read/write-write,inter-block,9,9) barracuda=race(write-read/write-write,inter-block,9,9) | every block takes a lock of its own, and all of them guard one counter
__device__ int locks[4], counter;

__global__ void count() {
    int *lock = &locks[blockIdx.x];
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    counter++;
    __threadfence();
    atomicExch(lock, 0);
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
