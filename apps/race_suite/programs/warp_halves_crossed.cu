// race: ptx=race(write-read,intra-warp,7,9) barracuda=none | the masks of __syncwarp() name half a warp each, but lanes read what the other half wrote
__device__ int out[32];

__global__ void halves() {
    __shared__ int slot[32];
    int t = threadIdx.x;
    slot[t] = 3 * t;
    __syncwarp(t < 16 ? 0x0000ffff : 0xffff0000);
    out[t] = slot[t ^ 31];
}

int main() {
    halves<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
