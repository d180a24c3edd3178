// race: ptx=none barracuda=race(write-read,inter-block,7,11)+race(write-read,inter-block,10,8) | SB by volatile accesses: weak outcomes, but all of them strong to each other; to BARRACUDA they are plain
__device__ volatile int x, y;
__device__ int out[2];

__global__ void sb() {
    if (blockIdx.x == 0) {
        x = 1;
        out[0] = y;
    } else {
        y = 1;
        out[1] = x;
    }
}

int main() {
    sb<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
