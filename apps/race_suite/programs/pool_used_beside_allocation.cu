// race: ptx=race(write-write,inter-grid,host,4) barracuda=none | the memory is there for what comes behind its allocation in the stream, and nothing orders the other stream behind that
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
    fill<<<1, 32, 0, other>>>(all);
    cudaEventRecord(event, other);
    cudaStreamWaitEvent(one, event, 0);
    cudaFreeAsync(all, one);
    return cudaDeviceSynchronize() != cudaSuccess;
}
