// race: ptx=race(write-read/write-write,intra-block,11,11) barracuda=race(write-read/write-write,intra-block,11,11) | a lock among the warps of one block without fences (MP through the lock)
__device__ int out;

__global__ void count() {
    __shared__ int lock, counter;
    if (threadIdx.x == 0) lock = counter = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        counter++;
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) out = counter;
}

int main() {
    count<<<1, 128>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
