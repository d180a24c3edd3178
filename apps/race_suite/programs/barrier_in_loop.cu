// race: ptx=none barracuda=none | a barrier in a loop that all threads of the block run equally often
__device__ int out;

__global__ void turns() {
    __shared__ int value;
    int t = threadIdx.x;
    if (t == 0) value = 1;
    __syncthreads();
    for (int turn = 0; turn < 64; turn += 21) {
        if (t == turn) value = 3 * value + turn;
        __syncthreads();
    }
    if (t == 1) out = value;
}

int main() {
    turns<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
