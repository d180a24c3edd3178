// race: ptx=race(write-write,inter-block,5,5) barracuda=none | atomicAdd_block() among blocks: its scope does not take in the other block; BARRACUDA knows no scopes of atomics
__device__ int counter;

__global__ void count() {
    atomicAdd_block(&counter, 1);
}

int main() {
    count<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
