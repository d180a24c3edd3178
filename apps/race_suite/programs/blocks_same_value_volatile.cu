// race: ptx=none barracuda=race(write-write,inter-block,5,5) | two blocks set the same mark by volatile stores: strong to each other, so no race; to BARRACUDA they are plain
__device__ volatile int found;

__global__ void search() {
    if (threadIdx.x == 0) found = 1;
}

int main() {
    search<<<2, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
