// race: ptx=none barracuda=none hirace=race(write-write,inter-block,7,14) scord=none | a volatile store, a fence and a flag, then another block's atomic; HiRace knows neither fence nor flag
__device__ unsigned counter, flag;

__global__ void count() {
    volatile unsigned *cell = &counter;
    if (blockIdx.x == 0) {
        *cell = 10;
        __threadfence();
        atomicExch(&flag, 1);
    } else {
        while (atomicAdd(&flag, 0) == 0) {
        }
        __threadfence();
        atomicAdd(&counter, 1);
    }
}

int main() {
    count<<<2, 1>>>();
    unsigned got = 0;
    if (cudaMemcpyFromSymbol(&got, counter, sizeof(got)) != cudaSuccess) return 1;
    return got != 11;
}
