// race: ptx=race(write-read,host,5,host) barracuda=none | memcpy takes the results out of managed memory before the host has waited
#include <cstring>

__global__ void compute(int *words) {
    words[blockIdx.x * blockDim.x + threadIdx.x] = 3 * threadIdx.x;
}

int main() {
    int *words;
    static int taken[1024];
    cudaMallocManaged(&words, sizeof taken);
    compute<<<8, 128>>>(words);
    memcpy(taken, words, sizeof taken);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    return taken[5] > 15;
}
