// race: ptx=none barracuda=none | the sum travels in registers; memory is written once, by one lane
__device__ int out;

__global__ void sum() {
    int value = threadIdx.x;
    for (int half = 16; half > 0; half /= 2) value += __shfl_down_sync(0xffffffff, value, half);
    if (threadIdx.x == 0) out = value;
}

int main() {
    sum<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
