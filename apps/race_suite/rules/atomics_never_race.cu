// race: ptx=race(write-write,inter-block,5,5) barracuda=none hirace=race(write-write,inter-block,5,5) scord=race(write-write,inter-block,5,5) | two blocks count by atomics of block scope
__device__ int total;

__global__ void count() {
    atomicAdd_block(&total, 1);
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
