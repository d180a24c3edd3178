// race: ptx=none barracuda=none hirace=none scord=none | atomics of block scope by two warps of one block
__device__ unsigned counter;

__global__ void count() {
    if (threadIdx.x % 32 == 0) atomicAdd_block(&counter, 1);
}

int main() {
    count<<<1, 33>>>();
    unsigned got = 0;
    if (cudaMemcpyFromSymbol(&got, counter, sizeof(got)) != cudaSuccess) return 1;
    return got != 2;
}
