// race: ptx=none barracuda=none | the reader looks once and leaves the data alone where the flag is not set
__device__ int data, out;
__device__ volatile int flag;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else if (flag != 0) {
        __threadfence();
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
