// race: ptx=race(write-read,inter-block,7,13) barracuda=race(write-read,inter-block,7,13)+lines(7,9,11,13) | MP: the writer has its fence, the reader none behind the volatile load of the flag
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
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
