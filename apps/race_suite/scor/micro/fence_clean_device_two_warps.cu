// race: ptx=none barracuda=none hirace=race(write-read,intra-block,7,14) scord=none | a fence of device scope between two warps of one block is wider than it must be; HiRace knows no fences
__device__ unsigned data, flag, out;

__global__ void pass() {
    volatile unsigned *mail = &data;
    if (threadIdx.x == 0) {
        *mail = 42;
        __threadfence();
        atomicExch(&flag, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&flag, 0) == 0) {
        }
        __threadfence();
        out = *mail;
    }
}

int main() {
    pass<<<1, 33>>>();
    unsigned got = 0;
    if (cudaMemcpyFromSymbol(&got, out, sizeof(got)) != cudaSuccess) return 1;
    return got != 42;
}
