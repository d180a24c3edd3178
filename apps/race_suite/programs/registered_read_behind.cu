// race: ptx=none barracuda=none | the host reads registered memory behind its wait, and uses what lies beside it all the time
#include <cstdio>
#include <cstdlib>

__global__ void compute(int *words) {
    words[blockIdx.x * blockDim.x + threadIdx.x] = 3 * threadIdx.x;
}

int main() {
    const int count = 1 << 12;
    char *before = (char *)malloc(64);
    int *words = (int *)malloc(count * sizeof(int));
    char *behind = (char *)malloc(64);
    if (cudaHostRegister(words, count * sizeof(int), cudaHostRegisterMapped) != cudaSuccess) return 1;
    compute<<<count / 256, 256>>>(words);
    snprintf(before, 64, "%p", (void *)words);
    snprintf(behind, 64, "%p", (void *)before);
    char *more = (char *)malloc(100);
    puts(before);
    puts(behind);
    free(more);
    cudaDeviceSynchronize();
    int seen = words[5];
    cudaHostUnregister(words);
    free(words);
    free(before);
    free(behind);
    return seen != 15;
}
