// race: ptx=none barracuda=none | the default stream waits for the blocking streams and they for it
__device__ int data[32], out[32];

__global__ void fill() {
    data[threadIdx.x] = 3 * threadIdx.x;
}

__global__ void take() {
    out[threadIdx.x] = data[31 - threadIdx.x];
}

int main() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    fill<<<1, 32, 0, stream>>>();
    take<<<1, 32>>>();
    fill<<<1, 32, 0, stream>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
