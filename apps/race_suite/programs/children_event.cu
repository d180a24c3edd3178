// race: ptx=none barracuda=none children=yes | the second child waits for an event behind the first, which the launching thread has recorded after it wrote once more
__device__ int in[64], out[64], more[64], sums[64];

__global__ void first() { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void second() { sums[threadIdx.x] = out[63 - threadIdx.x] + more[0]; }

__global__ void parent() {
    in[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        cudaStream_t one, other;
        cudaEvent_t event;
        cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        first<<<1, 64, 0, one>>>();
        more[0] = 5;
        cudaEventRecord(event, one);
        cudaStreamWaitEvent(other, event, 0);
        second<<<1, 64, 0, other>>>();
    }
}

int main() {
    parent<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
