// race: ptx=race(write-read,host,3,host) barracuda=none | the host reads page-locked memory while the kernel may still write it
__global__ void compute(int *words) {
    words[threadIdx.x] = 3 * threadIdx.x;
}

int main() {
    int *words;
    cudaHostAlloc(&words, 32 * sizeof(int), cudaHostAllocMapped);
    compute<<<1, 32>>>(words);
    int sum = 0;
    for (int i = 0; i < 32; ++i) sum += words[i];
    cudaDeviceSynchronize();
    return sum < 0;
}
