// race: ptx=none barracuda=none hirace=race(write-read,inter-block,7,14)+lines(7,9,11,14) scord=race(write-read,inter-block,7,14)+lines(7,9,11,14) | a message behind a flag with fences: HiRace knows no fences, and to ScoRD they order strong accesses alone
__device__ int data, out;
__device__ volatile int flag;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0) {
        }
        __threadfence();
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
