// race: ptx=race(write-read,intra-warp/divergence,8,10) barracuda=race(branch-order/write-read,divergence,8,10) | one side of the branch reads what the other side writes: which side runs first is not said
__device__ int out[32];

__global__ void sides() {
    __shared__ int slot[16];
    int t = threadIdx.x;
    if (t < 16) {
        slot[t] = 3 * t;
    } else {
        out[t] = slot[t - 16];
    }
}

int main() {
    sides<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
