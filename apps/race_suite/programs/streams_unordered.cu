// race: ptx=race(write-read,inter-grid,5,9) barracuda=none | two kernels in two streams with nothing between them; BARRACUDA looks at one kernel at a time
__device__ int data[32], out[32];

__global__ void fill() {
    data[threadIdx.x] = 3 * threadIdx.x;
}

__global__ void take() {
    out[threadIdx.x] = data[31 - threadIdx.x];
}

int main() {
    cudaStream_t one, two;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    fill<<<1, 32, 0, one>>>();
    take<<<1, 32, 0, two>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
