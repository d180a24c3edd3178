// race: ptx=none barracuda=none | the host polls a volatile mark that the kernel sets behind a fence of the system, and then reads the data
__global__ void compute(volatile int *data, volatile int *ready) {
    *data = 42;
    __threadfence_system();
    *ready = 1;
}

int main() {
    volatile int *words;
    cudaHostAlloc((void **)&words, 4096, cudaHostAllocMapped);
    words[0] = words[64] = 0;
    compute<<<1, 1>>>(&words[0], &words[64]);
    while (words[64] == 0) {
    }
    int seen = words[0];
    cudaDeviceSynchronize();
    return seen != 42;
}
