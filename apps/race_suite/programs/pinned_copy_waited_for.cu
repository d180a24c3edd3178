// race: ptx=none barracuda=none | the host waits for the asynchronous copy before it reads, and reuses the source of one that is done
__global__ void compute(int *words) {
    words[threadIdx.x] += 3 * threadIdx.x;
}

int main() {
    int *data, *back;
    cudaStream_t stream;
    cudaMalloc(&data, 32 * sizeof(int));
    cudaMallocHost(&back, 32 * sizeof(int));
    cudaStreamCreate(&stream);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 32; ++i) back[i] = round;
        cudaMemcpyAsync(data, back, 32 * sizeof(int), cudaMemcpyHostToDevice, stream);
        compute<<<1, 32, 0, stream>>>(data);
        cudaMemcpyAsync(back, data, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        for (int i = 0; i < 32; ++i)
            if (back[i] != round + 3 * i) return 1;
    }
    return 0;
}
