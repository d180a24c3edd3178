// race: ptx=none barracuda=none children=yes | a tail launch begins when the parent has ended, wherever that stands, and what is next in the stream when the child has
__device__ int in[64], out[64];

__global__ void child() { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void parent() {
    if (threadIdx.x == 0) child<<<1, 64, 0, cudaStreamTailLaunch>>>();
    in[threadIdx.x] = threadIdx.x;
}

__global__ void next() { out[63 - threadIdx.x] += in[threadIdx.x]; }

int main() {
    parent<<<1, 64>>>();
    next<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
