// race: ptx=race(write-read,inter-grid,7,4) barracuda=none children=yes | the child knows what the thread knew that launched it, and of the other threads that was nothing
__device__ int in[64], out[64];

__global__ void child() { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void parent() {
    in[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) child<<<1, 64>>>();
}

int main() {
    parent<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
