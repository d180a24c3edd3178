// race: ptx=none barracuda=none | the same with both threads in one block, in two warps: fences of block scope are wide enough
__device__ int data, out;
__device__ volatile int flag;

__global__ void pass() {
    if (threadIdx.x == 0) {
        data = 42;
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
