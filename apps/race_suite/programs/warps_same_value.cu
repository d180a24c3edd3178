// race: ptx=race(write-write,intra-block,7,7) barracuda=race(write-write,intra-block,7,7) | a lane of each of two warps writes the same value: equal values are forgiven within one instruction of a warp only
__device__ int in = 7, out[64];

__global__ void collide() {
    __shared__ int cell;
    int value = in;
    if (threadIdx.x % 32 == 0) cell = value;
    __syncthreads();
    out[threadIdx.x] = cell;
}

int main() {
    collide<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
