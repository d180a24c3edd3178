// race: ptx=race(write-read,host,3,host) barracuda=none | the host waits for a stream, and not for the one whose kernel writes what it reads
__global__ void compute(int *word, int value) {
    *word = value;
}

int main() {
    int *words;
    cudaStream_t one, two;
    cudaMallocManaged(&words, 2 * sizeof(int));
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    compute<<<1, 1, 0, one>>>(&words[0], 1);
    compute<<<1, 1, 0, two>>>(&words[1], 2);
    cudaStreamSynchronize(two);
    volatile int first = words[0], second = words[1];
    cudaDeviceSynchronize();
    return first > 1 || second != 2;
}
