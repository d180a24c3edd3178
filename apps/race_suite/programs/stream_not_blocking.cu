// race: ptx=race(write-read,inter-grid,5,9) barracuda=none | a stream that was made non-blocking does not wait for the default stream
__device__ int data[32], out[32];

__global__ void fill() {
    data[threadIdx.x] = 3 * threadIdx.x;
}

__global__ void take() {
    out[threadIdx.x] = data[31 - threadIdx.x];
}

int main() {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    fill<<<1, 32>>>();
    take<<<1, 32, 0, stream>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
