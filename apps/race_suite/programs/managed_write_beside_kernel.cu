// race: ptx=race(write-read,host,host,3) barracuda=none | the host writes the next input into managed memory while the kernel may still read the last one
__global__ void scale(const int *input, int *output) {
    output[threadIdx.x] = 2 * input[threadIdx.x];
}

int main() {
    int *input, *output;
    cudaMallocManaged(&input, 32 * sizeof(int));
    cudaMalloc(&output, 32 * sizeof(int));
    for (int i = 0; i < 32; ++i) input[i] = i;
    scale<<<1, 32>>>(input, output);
    for (int i = 0; i < 32; ++i) input[i] = -i;
    scale<<<1, 32>>>(input, output);
    return cudaDeviceSynchronize() != cudaSuccess;
}
