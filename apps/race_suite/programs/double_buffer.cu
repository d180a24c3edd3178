// race: ptx=none barracuda=none | who writes a buffer in round i has passed the barrier of round i - 1, and everybody read that buffer in round i - 2, before it
__device__ int out[64];

__global__ void rounds() {
    __shared__ int buffer[2][64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 6; i++) {
        buffer[i % 2][t] = i * t;
        __syncthreads();
        sum += buffer[i % 2][63 - t];
    }
    out[t] = sum;
}

int main() {
    rounds<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
