// race: ptx=none barracuda=none hirace=race(write-read,inter-block,7,14) scord=none | an atomic of device scope, a fence and a flag, then a volatile load in another block; HiRace knows neither fence nor flag
__device__ unsigned counter, flag, out;

__global__ void count() {
    volatile unsigned *cell = &counter;
    if (blockIdx.x == 0) {
        atomicAdd(&counter, 1);
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
    unsigned got = 0;
    if (cudaMemcpyFromSymbol(&got, out, sizeof(got)) != cudaSuccess) return 1;
    return got != 1;
}
