// race: ptx=race(write-read,host,4,host)+race(write-read,host,3,host) barracuda=none | the kernel sets the mark that the host polls by a plain store, with no fence before it
__global__ void compute(int *data, int *ready) {
    *data = 42;
    *ready = 1;
}

int main() {
    int *words;
    cudaHostAlloc((void **)&words, 4096, cudaHostAllocMapped);
    words[0] = words[64] = 0;
    compute<<<1, 1>>>(&words[0], &words[64]);
    while (((volatile int *)words)[64] == 0) {
    }
    int seen = ((volatile int *)words)[0];
    cudaDeviceSynchronize();
    return seen > 42;
}
