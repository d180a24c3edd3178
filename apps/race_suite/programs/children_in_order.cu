// race: ptx=none barracuda=none children=yes | children of one block in its stream run one after another, and what a thread writes between the launches only the second reads
__device__ int in[64], out[64], more[64];

__global__ void first() { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void second() { out[63 - threadIdx.x] += in[threadIdx.x] + more[0]; }

__global__ void parent() {
    in[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        first<<<1, 64>>>();
        more[0] = 5;
        second<<<1, 64>>>();
    }
}

int main() {
    parent<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
