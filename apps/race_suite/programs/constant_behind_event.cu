// race: ptx=none barracuda=none | the copy that overwrites the constants waits for the kernel that reads them
__constant__ int factors[4] = {1, 2, 3, 4};
__device__ int out[32];

__global__ void scale() {
    out[threadIdx.x] = factors[threadIdx.x % 4] * threadIdx.x;
}

int main() {
    int *next;
    cudaStream_t one, two;
    cudaEvent_t read;
    cudaMallocHost(&next, 4 * sizeof(int));
    for (int i = 0; i < 4; i++) next[i] = i;
    cudaMemcpyToSymbol(factors, next, 4 * sizeof(int));
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreate(&read);
    scale<<<1, 32, 0, one>>>();
    cudaEventRecord(read, one);
    cudaStreamWaitEvent(two, read);
    cudaMemcpyToSymbolAsync(factors, next, 4 * sizeof(int), 0, cudaMemcpyHostToDevice, two);
    scale<<<1, 32, 0, two>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
