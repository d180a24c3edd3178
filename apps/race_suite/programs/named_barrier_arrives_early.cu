// race: ptx=race(write-read,intra-block,9,12) barracuda=race(write-read,intra-block,9,12)+lines(8,9,11,12) | the producers arrive before they have written (MP without any edge)
__device__ int out[32];

__global__ void hand_over() {
    __shared__ int slot[32];
    int t = threadIdx.x;
    if (t < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        slot[t] = 3 * t;
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t - 32] = slot[63 - t];
    }
}

int main() {
    hand_over<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
