// race: ptx=race(write-read,inter-block,7,14) barracuda=race(write-read,inter-block,7,14)+lines(7,9,11,14) trials=50 | the reader looks a few times and then reads the data in any case; the race shows in executions where it has not seen the flag
__device__ int data, out;
__device__ volatile int flag;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else {
        for (int tries = 0; tries < 3 && flag == 0; tries++) {
        }
        __threadfence();
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
