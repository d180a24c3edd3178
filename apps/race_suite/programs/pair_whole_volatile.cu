// race: ptx=none barracuda=race(write-read,inter-block,6,8) | eight bytes as one volatile access on both sides: strong at system scope and of the same bytes, so no race; BARRACUDA knows no strong accesses
__device__ long long whole, out;

__global__ void copy() {
    if (blockIdx.x == 0) {
        *(volatile long long *)&whole = 0x200000001;
    } else {
        out = *(volatile long long *)&whole;
    }
}

int main() {
    copy<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
