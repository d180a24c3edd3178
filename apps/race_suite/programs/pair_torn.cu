// race: ptx=race(write-read,inter-block,9,11) barracuda=race(write-read,inter-block,9,11) | a struct of eight bytes is written as a whole and read as a whole by plain accesses of two blocks
struct alignas(8) Pair {
    int low, high;
};
__device__ Pair pair, out;

__global__ void copy() {
    if (blockIdx.x == 0) {
        pair = Pair{1, 2};
    } else {
        out = pair;
    }
}

int main() {
    copy<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
