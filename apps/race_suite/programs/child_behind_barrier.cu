// race: ptx=none barracuda=none children=yes | all threads have met before one of them launches the child
__device__ int in[64], out[64];

__global__ void child() { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void parent() {
    in[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) child<<<1, 64>>>();
}

int main() {
    parent<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
