// race: ptx=none barracuda=none | atomicAdd_block() within one block; the sum is read behind a barrier
__device__ int counter, out;

__global__ void count() {
    atomicAdd_block(&counter, 1);
    __syncthreads();
    if (threadIdx.x == 0) out = counter;
}

int main() {
    count<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
