// race: ptx=none barracuda=race(write-write,inter-block,7,12) hirace=race(write-write,inter-block,7,12) scord=race(write-write,inter-block,7,12) | a volatile store, then another block's atomic with no fence between: strong accesses do not race in PTX, to ScoRD the atomic is one more store
__device__ unsigned counter, flag;

__global__ void count() {
    volatile unsigned *cell = &counter;
    if (blockIdx.x == 0) {
        *cell = 10;
        atomicExch(&flag, 1);
    } else {
        while (atomicAdd(&flag, 0) == 0) {
        }
        atomicAdd(&counter, 1);
    }
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
