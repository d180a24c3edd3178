// race: ptx=race(write-read,inter-grid/host,3,host) barracuda=none | an asynchronous copy to the host in another stream reads what the kernel writes
__global__ void fill(int *data) {
    data[threadIdx.x] = 3 * threadIdx.x;
}

int main() {
    int *data, *back;
    cudaStream_t one, two;
    cudaMalloc(&data, 32 * sizeof(int));
    cudaMallocHost(&back, 32 * sizeof(int));
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    fill<<<1, 32, 0, one>>>(data);
    cudaMemcpyAsync(back, data, 32 * sizeof(int), cudaMemcpyDeviceToHost, two);
    return cudaDeviceSynchronize() != cudaSuccess;
}
