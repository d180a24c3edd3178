// race: ptx=none barracuda=any children=yes | the last block to count has come behind all others, and launches the child
__device__ int in[64], out[64];
__device__ unsigned done;

__global__ void child() { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void parent() {
    in[blockIdx.x] = blockIdx.x;
    __threadfence();
    if (atomicAdd(&done, 1) == gridDim.x - 1) {
        __threadfence();
        child<<<1, 64>>>();
    }
}

int main() {
    parent<<<64, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
