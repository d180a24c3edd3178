// race: ptx=race(write-read,inter-grid/host,host,6) barracuda=none | a copy in another stream overwrites the constants that the kernel reads
__constant__ int factors[4];
__device__ int out[32];

__global__ void scale() {
    out[threadIdx.x] = factors[threadIdx.x % 4] * threadIdx.x;
}

int main() {
    int *next;
    cudaStream_t one, two;
    cudaMallocHost(&next, 4 * sizeof(int));
    for (int i = 0; i < 4; i++) next[i] = i;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    scale<<<1, 32, 0, one>>>();
    cudaMemcpyToSymbolAsync(factors, next, 4 * sizeof(int), 0, cudaMemcpyHostToDevice, two);
    return cudaDeviceSynchronize() != cudaSuccess;
}
