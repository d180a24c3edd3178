// race: ptx=race(write-write,inter-block,6,8) barracuda=race(write-write,inter-block,6,8) | a store of a word and a store of its third byte: both volatile, but strong accesses that overlap in part only are not morally strong
__device__ int word;

__global__ void overlap() {
    if (blockIdx.x == 0) {
        *(volatile int *)&word = 0x01020304;
    } else {
        ((volatile char *)&word)[2] = 9;
    }
}

int main() {
    overlap<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
