// race: ptx=race(write-read,intra-block,7,10) barracuda=race(write-read,intra-block,7,10)+lines(7,9,10) | two of four warps synchronise, but read what the others wrote (MP without any edge)
__device__ int out[64];

__global__ void some() {
    __shared__ int slot[128];
    int t = threadIdx.x;
    slot[t] = 3 * t;
    if (t < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = slot[127 - t];
    }
}

int main() {
    some<<<1, 128>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
