// race: ptx=none barracuda=none | kernel after kernel in one stream
__device__ int data[64], out[64];

__global__ void fill() {
    data[blockIdx.x * 32 + threadIdx.x] = 3 * threadIdx.x;
}

__global__ void take() {
    int t = blockIdx.x * 32 + threadIdx.x;
    out[t] = data[63 - t];
}

int main() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    fill<<<2, 32, 0, stream>>>();
    take<<<2, 32, 0, stream>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
