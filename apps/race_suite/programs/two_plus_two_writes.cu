// race: ptx=race(write-write,inter-block,6,10)+race(write-write,inter-block,7,9) barracuda=race(write-write,inter-block,6,10)+race(write-write,inter-block,7,9) | 2+2W by plain stores: two cells are written by two blocks in opposite order
__device__ int x, y;

__global__ void writes() {
    if (blockIdx.x == 0) {
        x = 1;
        y = 2;
    } else {
        y = 1;
        x = 2;
    }
}

int main() {
    writes<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
