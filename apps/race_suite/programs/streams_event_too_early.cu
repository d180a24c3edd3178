// race: ptx=race(write-read,inter-grid,5,9) barracuda=none | the event is recorded before the kernel that it should cover
__device__ int data[32], out[32];

__global__ void fill() {
    data[threadIdx.x] = 3 * threadIdx.x;
}

__global__ void take() {
    out[threadIdx.x] = data[31 - threadIdx.x];
}

int main() {
    cudaStream_t one, two;
    cudaEvent_t filled;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaEventCreate(&filled);
    cudaEventRecord(filled, one);
    fill<<<1, 32, 0, one>>>();
    cudaStreamWaitEvent(two, filled, 0);
    take<<<1, 32, 0, two>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
