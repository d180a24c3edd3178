// race: ptx=none barracuda=none | the host waits for the allocation, and for all use before it frees
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
    cudaStreamSynchronize(one);
    fill<<<1, 32, 0, other>>>(all);
    cudaStreamSynchronize(other);
    use<<<1, 32, 0, one>>>(all);
    cudaFreeAsync(all, one);
    return cudaDeviceSynchronize() != cudaSuccess;
}
