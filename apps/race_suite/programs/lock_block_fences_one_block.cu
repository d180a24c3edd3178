// race: ptx=none barracuda=none | the same lock among the warps of one block, in shared memory
__device__ int out;

__global__ void count() {
    __shared__ int lock, counter;
    if (threadIdx.x == 0) lock = counter = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence_block();
        counter++;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) out = counter;
}

int main() {
    count<<<1, 128>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
