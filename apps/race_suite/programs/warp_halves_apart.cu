// race: ptx=none barracuda=none | each half of the warp synchronises itself by its own mask and touches its own half of the array
__device__ int out[32];

__global__ void halves() {
    __shared__ int slot[32];
    int t = threadIdx.x;
    slot[t] = 3 * t;
    __syncwarp(t < 16 ? 0x0000ffff : 0xffff0000);
    out[t] = slot[t ^ 15];
}

int main() {
    halves<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
