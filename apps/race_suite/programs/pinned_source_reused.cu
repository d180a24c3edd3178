// race: ptx=race(write-read,host,host,host) barracuda=none | the host writes the next round into page-locked memory that an asynchronous copy may still read
__global__ void compute(int *words) {
    words[threadIdx.x] += 1;
}

int main() {
    int *data, *input;
    cudaStream_t stream;
    cudaMalloc(&data, 32 * sizeof(int));
    cudaMallocHost(&input, 32 * sizeof(int));
    cudaStreamCreate(&stream);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 32; ++i) input[i] = round;
        cudaMemcpyAsync(data, input, 32 * sizeof(int), cudaMemcpyHostToDevice, stream);
        compute<<<1, 32, 0, stream>>>(data);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
