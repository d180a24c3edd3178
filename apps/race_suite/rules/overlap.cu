// race: ptx=race(write-write,inter-block,6,8) barracuda=any hirace=none scord=any | one block adds to eight bytes, the other one to four of them, both by atomics
__device__ unsigned long long whole;

__global__ void add() {
    if (blockIdx.x == 0) {
        atomicAdd(&whole, 1ull);
    } else {
        atomicAdd((unsigned *)&whole, 1u);
    }
}

int main() {
    add<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
