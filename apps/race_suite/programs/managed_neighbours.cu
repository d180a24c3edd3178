// race: ptx=none barracuda=none | host and kernel use different words of one page of managed memory, and the system reads and writes others
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

__global__ void compute(int *words) {
    words[threadIdx.x] = threadIdx.x;
}

int main() {
    int *words;
    cudaMallocManaged(&words, 4096);
    strcpy((char *)&words[512], "/dev/zero");
    compute<<<1, 32>>>(words);
    words[32] = 7;
    for (int i = 33; i < 256; ++i) words[i] = words[i - 1] + 1;
    int zero = open((const char *)&words[512], O_RDONLY);
    if (zero < 0) return 2;
    if (read(zero, &words[64], 256) != 256) return 3;
    char name[16];
    memcpy(name, &words[512], 10);
    printf("%s %d\n", (const char *)&words[512], words[63]);
    if (strcmp(name, "/dev/zero") != 0 || words[63] != 38 || words[64] != 0) return 4;
    return cudaDeviceSynchronize() != cudaSuccess || words[31] != 31;
}
