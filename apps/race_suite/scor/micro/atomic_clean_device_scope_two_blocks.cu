// race: ptx=none barracuda=none hirace=none scord=none | atomics of device scope by two blocks
__device__ unsigned counter;

__global__ void count() {
    atomicAdd(&counter, 1);
}

int main() {
    count<<<2, 1>>>();
    unsigned got = 0;
    if (cudaMemcpyFromSymbol(&got, counter, sizeof(got)) != cudaSuccess) return 1;
    return got != 2;
}
