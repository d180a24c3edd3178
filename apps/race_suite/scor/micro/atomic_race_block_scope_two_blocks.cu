// race: ptx=race(write-write,inter-block,5,5) barracuda=none hirace=race(write-write,inter-block,5,5) scord=race(write-write,inter-block,5,5) | atomics of block scope in two blocks: neither scope takes in the other thread; BARRACUDA knows no scopes of atomics
__device__ unsigned counter;

__global__ void count() {
    atomicAdd_block(&counter, 1);
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
