// race: ptx=race(write-read/write-write,inter-grid/host,host,5) barracuda=none | an asynchronous fill in another stream overwrites what the kernel reads
__device__ int out[32];

__global__ void take(const int *data) {
    out[threadIdx.x] = data[threadIdx.x];
}

int main() {
    int *data;
    cudaStream_t one, two;
    cudaMalloc(&data, 32 * sizeof(int));
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    take<<<1, 32, 0, one>>>(data);
    cudaMemsetAsync(data, 1, 32 * sizeof(int), two);
    return cudaDeviceSynchronize() != cudaSuccess;
}
