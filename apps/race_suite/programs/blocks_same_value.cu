// race: ptx=race(write-write,inter-block,6,6) barracuda=race(write-write,inter-block,6,6) | two blocks set the same found mark by plain stores
__device__ int found;
__device__ int keys[64];

__global__ void search() {
    if (keys[blockIdx.x * 32 + threadIdx.x] == 0 && threadIdx.x == 0) found = 1;
}

int main() {
    search<<<2, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
