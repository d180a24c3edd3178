#include <cstdio>

__device__ int data_word, flag_word;

__global__ void tell(int *out, int twice) {
    if (blockIdx.x == 0) {
        data_word = 12;
        __threadfence();
        atomicExch(&flag_word, 1);
        if (twice)
            __threadfence();
        out[1] = 1;
    } else {
        while (atomicAdd(&flag_word, 0) == 0) {
        }
        __threadfence();
        out[0] = data_word;
    }
}

int main() {
    int *out, host[2] = {};
    cudaMalloc(&out, sizeof host);
    tell<<<2, 1>>>(out, 1);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    if (host[0] != 12 || host[1] != 1) {
        std::printf("%d %d\n", host[0], host[1]);
        return 1;
    }
    return 0;
}
