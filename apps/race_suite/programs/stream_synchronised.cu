// race: ptx=none barracuda=none | the host waits for the first stream before it launches in the second
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
    cudaStreamSynchronize(one);
    take<<<1, 32, 0, two>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
