// race: ptx=none barracuda=none | an asynchronous copy in the kernel's own stream comes behind it
__global__ void fill(int *data) {
    data[threadIdx.x] = 3 * threadIdx.x;
}

int main() {
    int *data, *back;
    cudaStream_t stream;
    cudaMalloc(&data, 32 * sizeof(int));
    cudaMallocHost(&back, 32 * sizeof(int));
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    fill<<<1, 32, 0, stream>>>(data);
    cudaMemcpyAsync(back, data, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    return cudaDeviceSynchronize() != cudaSuccess;
}
