// race: ptx=none barracuda=none | all blocks count by atomics of device scope; atomics do not race with each other
__device__ int counter, out[64];

__global__ void count() {
    out[blockIdx.x * 32 + threadIdx.x] = atomicAdd(&counter, 1);
}

int main() {
    count<<<2, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
