// race: ptx=none barracuda=none | __syncwarp() orders the shared accesses of the lanes that it names
__device__ int out[32];

__global__ void exchange() {
    __shared__ int slot[32];
    int t = threadIdx.x;
    slot[t] = 3 * t;
    __syncwarp();
    out[t] = slot[t ^ 1];
}

int main() {
    exchange<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
