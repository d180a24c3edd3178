// race: ptx=none barracuda=none | the same warp-synchronous sum with volatile: strong accesses of the same bytes do not race, though nothing settles which value is read
__device__ int out;

__global__ void sum() {
    __shared__ volatile int part[32];
    int t = threadIdx.x;
    part[t] = t;
    for (int half = 16; half > 0; half /= 2) {
        if (t < half) part[t] = part[t] + part[t + half];
    }
    if (t == 0) out = part[0];
}

int main() {
    sum<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
