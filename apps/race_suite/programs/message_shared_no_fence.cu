// race: ptx=race(write-read,intra-block,10,15) barracuda=race(write-read,intra-block,10,15)+lines(10,11,13,15) | MP in shared memory between two warps, without fences: shared memory is weakly ordered, too
__device__ int in, out;

__global__ void pass() {
    __shared__ int data;
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = in;
        flag = 1;
    } else if (threadIdx.x == 32) {
        while (flag == 0) {
        }
        out = data;
    }
}

int main() {
    pass<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
