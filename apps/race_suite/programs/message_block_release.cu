// race: ptx=race(write-read,inter-block,7,14) barracuda=none | MP across blocks with a fence of block scope at the writer: not morally strong to the reader's; BARRACUDA takes one global fence of the two for enough
__device__ int data, out;
__device__ volatile int flag;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence_block();
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
