// race: ptx=none barracuda=none | two kernels of unordered streams meet in atomics of device scope only
__device__ int counter;

__global__ void count() {
    atomicAdd(&counter, 1);
}

int main() {
    cudaStream_t one, two;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    count<<<2, 32, 0, one>>>();
    count<<<2, 32, 0, two>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
