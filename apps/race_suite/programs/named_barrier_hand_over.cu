// race: ptx=none barracuda=none | the producers arrive at barrier 1 without waiting, the consumers wait there: 64 threads are counted
__device__ int out[32];

__global__ void hand_over() {
    __shared__ int slot[32];
    int t = threadIdx.x;
    if (t < 32) {
        slot[t] = 3 * t;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t - 32] = slot[63 - t];
    }
}

int main() {
    hand_over<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
