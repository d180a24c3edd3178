#include <cstdio>

__device__ int payload[4];
__device__ volatile int ready;

__global__ void mail(int *out) {
    if (blockIdx.x == 0) {
        for (int i = 0; i < 4; i++) payload[i] = 10 + i;
        ready = 1;
    } else {
        while (ready == 0) {
        }
        int sum = 0;
        for (int i = 0; i < 4; i++) sum += payload[i];
        *out = sum;
    }
}

int main() {
    int *out, sum = 0;
    cudaMalloc(&out, sizeof(int));
    mail<<<2, 1>>>(out);
    cudaMemcpy(&sum, out, sizeof(int), cudaMemcpyDeviceToHost);
    if (sum != 46) {
        printf("sum %d\n", sum);
        return 1;
    }
    return 0;
}
