// race: ptx=none barracuda=none | two of four warps synchronise at barrier 1 and touch only what is theirs
__device__ int out[128];

__global__ void some() {
    __shared__ int slot[128];
    int t = threadIdx.x;
    slot[t] = 3 * t;
    if (t < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = slot[63 - t];
    } else {
        out[t] = slot[t];
    }
}

int main() {
    some<<<1, 128>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
