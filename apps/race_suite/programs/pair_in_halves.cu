// race: ptx=race(write-read,inter-block,6,9)+race(write-read,inter-block,7,9) barracuda=race(write-read,inter-block,6,9)+race(write-read,inter-block,7,9) | eight bytes are written as two volatile halves and read as one volatile whole: strong, but they overlap in part only
__device__ long long whole, out;

__global__ void copy() {
    if (blockIdx.x == 0) {
        ((volatile int *)&whole)[0] = 1;
        ((volatile int *)&whole)[1] = 2;
    } else {
        out = *(volatile long long *)&whole;
    }
}

int main() {
    copy<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
