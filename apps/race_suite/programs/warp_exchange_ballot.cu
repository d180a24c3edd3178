// race: ptx=race(write-read,intra-warp,7,9) barracuda=none | a vote orders no memory either
__device__ int out[32];

__global__ void exchange() {
    __shared__ int slot[32];
    int t = threadIdx.x;
    slot[t] = 3 * t;
    unsigned odd = __ballot_sync(0xffffffff, t % 2);
    out[t] = slot[(t + __popc(odd)) % 32];
}

int main() {
    exchange<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
