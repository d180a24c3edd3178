// race: ptx=race(write-read,host,5,host) barracuda=none | the host reads memory of its own that it has registered while the kernel may still write it
#include <cstdlib>

__global__ void compute(int *words) {
    words[blockIdx.x * blockDim.x + threadIdx.x] = 3 * threadIdx.x;
}

int main() {
    const int count = 1 << 16;
    int *words = (int *)malloc(count * sizeof(int)), *device;
    if (cudaHostRegister(words, count * sizeof(int), cudaHostRegisterMapped) != cudaSuccess) return 1;
    cudaHostGetDevicePointer((void **)&device, words, 0);
    compute<<<count / 256, 256>>>(device);
    volatile int seen = words[5];
    cudaDeviceSynchronize();
    cudaHostUnregister(words);
    free(words);
    return seen > 15;
}
