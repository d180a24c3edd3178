// race: ptx=none barracuda=none | two warps pass barrier 0 at two instructions: the barrier is the number, and whole warps are there
__device__ int data, out;

__global__ void sides() {
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) data = 42;
        __syncthreads();
    } else {
        __syncthreads();
        if (threadIdx.x == 32) out = data;
    }
}

int main() {
    sides<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
