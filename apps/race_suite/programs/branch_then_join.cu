// race: ptx=race(write-read,intra-warp/divergence,7,8) barracuda=none | behind the branch lanes read what one side wrote: BARRACUDA takes the end of the branch for an order, the model does not
__device__ int out[32];

__global__ void sides() {
    __shared__ int slot[16];
    int t = threadIdx.x;
    if (t < 16) slot[t] = 3 * t;
    out[t] = slot[t % 16];
}

int main() {
    sides<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
