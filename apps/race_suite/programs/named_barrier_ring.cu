// race: ptx=none barracuda=none | producers and consumers use one slot again and again: barrier 1 says full, barrier 2 says empty
__device__ int out[32];

__global__ void ring() {
    __shared__ int slot[32];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 3; i++) {
        if (t < 32) {
            if (i > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
            slot[t] = i * t;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            sum += slot[63 - t];
            if (i < 2) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
    if (t >= 32) out[t - 32] = sum;
}

int main() {
    ring<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
