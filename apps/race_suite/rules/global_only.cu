// race: ptx=race(write-read,intra-block,6,7) barracuda=race(write-read,intra-block,6,7) hirace=race(write-read,intra-block,6,7) scord=none | a block reverses its numbers in shared memory without a barrier
__device__ int out[64];

__global__ void reverse() {
    __shared__ int tile[64];
    tile[threadIdx.x] = 3 * threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
    reverse<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
