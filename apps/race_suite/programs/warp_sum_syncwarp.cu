// race: ptx=none barracuda=none | __syncwarp() ends every step; in a step no lane reads what another one writes
__device__ int out;

__global__ void sum() {
    __shared__ int part[32];
    int t = threadIdx.x;
    part[t] = t;
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncwarp();
    }
    if (t == 0) out = part[0];
}

int main() {
    sum<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
