// race: ptx=race(write-read,inter-block,7,14) barracuda=race(write-read,inter-block,7,14)+lines(7,9,11,14) | MP across blocks with fences of block scope on both sides: neither scope takes in the other thread
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
        __threadfence_block();
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
