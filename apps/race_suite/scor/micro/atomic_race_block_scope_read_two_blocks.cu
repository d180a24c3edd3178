// race: ptx=none barracuda=none hirace=race(write-read,inter-block,7,14) scord=race(write-read,inter-block,7,14) | an atomic of block scope, then a volatile load in another block: fences and flag order them in PTX, to ScoRD the atomic takes effect in its block only
__device__ unsigned counter, flag, out;

__global__ void count() {
    volatile unsigned *cell = &counter;
    if (blockIdx.x == 0) {
        atomicAdd_block(&counter, 1);
        __threadfence();
        atomicExch(&flag, 1);
    } else {
        while (atomicAdd(&flag, 0) == 0) {
        }
        __threadfence();
        out = *cell;
    }
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
