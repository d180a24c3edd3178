// race: ptx=race(write-read,host,5,host) barracuda=none | the host reads managed memory while the kernel may still write it
__managed__ int result;

__global__ void compute() {
    result = 42;
}

int main() {
    compute<<<1, 1>>>();
    volatile int seen = result;
    (void)seen;
    return cudaDeviceSynchronize() != cudaSuccess;
}
