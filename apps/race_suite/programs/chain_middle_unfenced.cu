// race: ptx=race(write-read,inter-block,7,18) barracuda=race(write-read,inter-block,7,18)+lines(7,9,11,13,15,18) | ISA2: the thread between has no fence, so it passes nothing on
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
