// race: ptx=race(write-read,inter-block,7,19) barracuda=none | ISA2: the fence of the thread between is of block scope; BARRACUDA takes the global fences at the ends for enough
__device__ int data, out;
__device__ volatile int first, second;

__global__ void chain() {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        first = 1;
    } else if (blockIdx.x == 1) {
        while (first == 0) {
        }
        __threadfence_block();
        second = 1;
    } else {
        while (second == 0) {
        }
        __threadfence();
        out = data;
    }
}

int main() {
    chain<<<3, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
