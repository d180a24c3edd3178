// race: ptx=race(write-read,intra-warp,7,9) barracuda=none | a shuffle makes lanes meet but orders no memory; only __syncwarp() would
__device__ int out[32];

__global__ void exchange() {
    __shared__ int slot[32];
    int t = threadIdx.x;
    slot[t] = 3 * t;
    int index = __shfl_xor_sync(0xffffffff, t, 1);
    out[t] = slot[index];
}

int main() {
    exchange<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
