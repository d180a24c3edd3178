// race: ptx=race(write-read,inter-block,7,14) barracuda=none | MP across blocks with a fence of block scope at the reader: not morally strong to the writer's; BARRACUDA takes one global fence of the two for enough
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
        __threadfence_block();
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
