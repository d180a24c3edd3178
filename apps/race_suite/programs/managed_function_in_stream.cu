// race: ptx=none barracuda=none | a function that the stream calls reads what the kernel before it has written, and writes what the one behind it reads
static int *words;

__global__ void first(int *words) {
    words[0] = 41;
}

__global__ void second(int *words) {
    words[2] = words[1];
}

static void between(void *) {
    words[1] = words[0] + 1;
}

int main() {
    cudaStream_t stream;
    cudaMallocManaged(&words, 4 * sizeof(int));
    cudaStreamCreate(&stream);
    first<<<1, 1, 0, stream>>>(words);
    cudaLaunchHostFunc(stream, between, nullptr);
    second<<<1, 1, 0, stream>>>(words);
    cudaStreamSynchronize(stream);
    return words[2] != 42;
}
