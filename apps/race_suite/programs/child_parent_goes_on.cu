// race: ptx=race(write-read,inter-grid,9,4) barracuda=none children=yes | the parent goes on beside its child, and writes what that reads
__device__ int in[64], out[64];

__global__ void child() { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void parent() {
    __syncthreads();
    if (threadIdx.x == 0) child<<<1, 64>>>();
    in[threadIdx.x] = threadIdx.x;
}

int main() {
    parent<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
