// race: ptx=race(write-write,inter-block,6,11) barracuda=none hirace=race(write-write,inter-block,6,11) scord=race(write-write,inter-block,6,11) | the first atomic is of block scope, the other block's of device scope: both scopes have to take in the other thread; the flag only makes sure which comes first
__device__ unsigned counter, flag;

__global__ void count() {
    if (blockIdx.x == 0) {
        atomicAdd_block(&counter, 1);
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
