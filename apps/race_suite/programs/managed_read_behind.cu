// race: ptx=none barracuda=none | the host synchronises with the device before it reads managed memory
__managed__ int result;

__global__ void compute() {
    result = 42;
}

int main() {
    compute<<<1, 1>>>();
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    volatile int seen = result;
    (void)seen;
    return 0;
}
