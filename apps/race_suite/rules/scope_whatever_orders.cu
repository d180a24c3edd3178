// race: ptx=none barracuda=none hirace=race(write-write,inter-block,7,14)+lines(7,9,11,14) scord=race(write-write,inter-block,7,14)+lines(7,9,11,14) | an atomic of block scope, and behind fences and a flag another block's atomic
__device__ int total;
__device__ volatile int flag;

__global__ void count() {
    if (blockIdx.x == 0) {
        atomicAdd_block(&total, 1);
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0) {
        }
        __threadfence();
        atomicAdd(&total, 1);
    }
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
