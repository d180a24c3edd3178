// race: ptx=race(write-read,inter-block,6,8) barracuda=race(write-read,inter-block,6,8) | one block counts by atomics, another one reads the counter by a plain load
__device__ int counter, out;

__global__ void count() {
    if (blockIdx.x == 0) {
        atomicAdd(&counter, 1);
    } else {
        out = counter;
    }
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
