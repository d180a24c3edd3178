// race: ptx=none barracuda=none | MP in shared memory between two warps, with fences of block scope on both sides
__device__ int in, out;

__global__ void pass() {
    __shared__ int data;
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = in;
        __threadfence_block();
        flag = 1;
    } else if (threadIdx.x == 32) {
        while (flag == 0) {
        }
        __threadfence_block();
        out = data;
    }
}

int main() {
    pass<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
