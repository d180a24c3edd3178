// race: ptx=race(write-read/write-write,inter-block,5,5)+lines(5,6) barracuda=race(write-read/write-write,inter-block,5,5)+lines(5,6) | slots of a list are handed out by a plain increment: two blocks may take the same slot
__device__ int count, list[4];

__global__ void append() {
    int slot = count++;
    list[slot] = blockIdx.x;
}

int main() {
    append<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
