// race: ptx=race(write-read,inter-block,7,14) barracuda=race(write-read,inter-block,7,14)+lines(7,8,11,14) | MP: the writer's fence stands behind the flag and not between data and flag
__device__ int data, out;
__device__ volatile int flag;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        flag = 1;
        __threadfence();
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
