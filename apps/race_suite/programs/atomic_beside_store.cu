// race: ptx=race(write-write,inter-block,6,8) barracuda=race(write-write,inter-block,6,8) | one block counts by atomics, another one resets the counter by a plain store
__device__ int counter;

__global__ void count() {
    if (blockIdx.x == 0) {
        atomicAdd(&counter, 1);
    } else {
        counter = 0;
    }
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
