// race: ptx=none barracuda=none | each way to wait for a kernel comes before the host reads what it has written
__global__ void compute(int *word, int value) {
    *word = value;
}

int main() {
    int *words;
    cudaStream_t stream;
    cudaEvent_t event;
    int back;
    cudaMallocManaged(&words, 8 * sizeof(int));
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&event);

    compute<<<1, 1, 0, stream>>>(words, 1);
    cudaStreamSynchronize(stream);
    if (words[0] != 1) return 1;

    compute<<<1, 1, 0, stream>>>(words, 2);
    cudaEventRecord(event, stream);
    cudaEventSynchronize(event);
    if (words[0] != 2) return 2;

    compute<<<1, 1, 0, stream>>>(words, 3);
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    if (words[0] != 3) return 3;

    compute<<<1, 1, 0, stream>>>(words, 4);
    cudaEventRecord(event, stream);
    while (cudaEventQuery(event) == cudaErrorNotReady) {
    }
    if (words[0] != 4) return 4;

    compute<<<1, 1>>>(words, 5);
    cudaMemcpy(&back, words + 1, sizeof(int), cudaMemcpyDeviceToHost);
    if (words[0] != 5) return 5;

    words[0] = 6;
    compute<<<1, 1, 0, stream>>>(words + 1, words[0]);
    cudaDeviceSynchronize();
    return words[1] != 6;
}
