#include <cstdio>

const int copies = 8;

struct Replicated {
    int copy[copies];
    int version;
};

__global__ void replicate(Replicated *data, int *out) {
    if (blockIdx.x == 0) {
#pragma unroll 1
        for (int i = 0; i < copies; i++) data->copy[i] = 8;
        atomicExch(&data->version, 1);
    } else {
        while (atomicAdd(&data->version, 0) == 0) {
        }
        __threadfence();
        // any copy will do
        int value = 0;
#pragma unroll 1
        for (int i = 0; i < copies; i++) value |= data->copy[i];
        *out = value;
    }
}

int main() {
    Replicated *data;
    int *out, value = 0;
    cudaMalloc(&data, sizeof *data);
    cudaMalloc(&out, sizeof value);
    cudaMemset(data, 0, sizeof *data);
    replicate<<<2, 1>>>(data, out);
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
    if (value != 8) printf("no copy has it\n");
    return value == 8 ? 0 : 1;
}
