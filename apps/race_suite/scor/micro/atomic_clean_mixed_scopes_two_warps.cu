// race: ptx=none barracuda=none hirace=none scord=none | an atomic of block scope and one of device scope in one block: either scope takes in the other thread
__device__ unsigned counter;

__global__ void count() {
    if (threadIdx.x == 0) {
        atomicAdd_block(&counter, 1);
    } else if (threadIdx.x == 32) {
        atomicAdd(&counter, 1);
    }
}

int main() {
    count<<<1, 33>>>();
    unsigned got = 0;
    if (cudaMemcpyFromSymbol(&got, counter, sizeof(got)) != cudaSuccess) return 1;
    return got != 2;
}
