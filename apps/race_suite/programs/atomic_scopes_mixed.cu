// race: ptx=race(write-write,inter-block,6,8) barracuda=none | one block counts by atomics of block scope, the other by ones of device scope: both scopes have to take in the other thread
__device__ int counter;

__global__ void count() {
    if (blockIdx.x == 0) {
        atomicAdd_block(&counter, 1);
    } else {
        atomicAdd(&counter, 1);
    }
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
