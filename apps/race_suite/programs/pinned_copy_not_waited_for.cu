// race: ptx=race(write-read,host,host,host) barracuda=none | the host reads what an asynchronous copy may still write
__global__ void compute(int *words) {
    words[threadIdx.x] = 3 * threadIdx.x;
}

int main() {
    int *data, *back;
    cudaStream_t stream;
    cudaMalloc(&data, 32 * sizeof(int));
    cudaMallocHost(&back, 32 * sizeof(int));
    cudaStreamCreate(&stream);
    compute<<<1, 32, 0, stream>>>(data);
    cudaMemcpyAsync(back, data, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    volatile int seen = back[5];
    cudaStreamSynchronize(stream);
    return seen > 15;
}
