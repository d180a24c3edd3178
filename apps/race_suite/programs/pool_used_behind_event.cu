// race: ptx=none barracuda=none | the other stream waits for the allocation, and the stream that frees for the other
__device__ int sink[32];

__global__ void fill(int *all) { all[threadIdx.x] = threadIdx.x; }
__global__ void use(const int *all) { sink[threadIdx.x] = all[threadIdx.x]; }

int main() {
    cudaStream_t one, other;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    int *all;
    cudaMallocAsync((void **)&all, 32 * sizeof(int), one);
    cudaEventRecord(event, one);
    cudaStreamWaitEvent(other, event, 0);
    fill<<<1, 32, 0, other>>>(all);
    cudaEventRecord(event, other);
    cudaStreamWaitEvent(one, event, 0);
    use<<<1, 32, 0, one>>>(all);
    cudaFreeAsync(all, one);
    return cudaDeviceSynchronize() != cudaSuccess;
}
