// race: ptx=none barracuda=race(write-read,inter-block,6,8) | a volatile load beside atomics is strong and does not race; BARRACUDA lets atomics race with all other accesses
__device__ int counter, out;

__global__ void count() {
    if (blockIdx.x == 0) {
        atomicAdd(&counter, 1);
    } else {
        out = *(volatile int *)&counter;
    }
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
