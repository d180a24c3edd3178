// race: ptx=race(write-read/write-write,intra-block,8,9) barracuda=race(write-read/write-write,intra-block,8,9) | two bit fields of one byte are set by two threads: each loads, changes and stores the whole byte
struct Flags {
    unsigned char low : 4, high : 4;
};
__device__ Flags flags;

__global__ void set() {
    if (threadIdx.x == 0) flags.low = 5;
    if (threadIdx.x == 32) flags.high = 9;
}

int main() {
    set<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
