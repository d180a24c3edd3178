// race: ptx=race(write-read,inter-block,7,13) barracuda=race(write-read,inter-block,7,13)+lines(7,8,10,13) | MP: the reader has its fence, the writer none before the store of the flag
__device__ int data, out;
__device__ volatile int flag;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
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
