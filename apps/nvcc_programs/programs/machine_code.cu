// nvcc program: -gencode arch=compute_75,code=sm_75
// A program whose kernels are there as machine code alone. Memory and copies need none.
#include <cstdio>

template <typename T> __global__ void twice(T *values) { values[threadIdx.x] *= 2; }

int main(int count, char **) {
    int values[4] = {1, 2, 3, 4}, *device;
    if (cudaMalloc(&device, sizeof values) != cudaSuccess) return 1;
    if (cudaMemcpy(device, values, sizeof values, cudaMemcpyDefault) != cudaSuccess) return 1;
    if (count > 1) twice<<<1, 4>>>(device);
    if (cudaMemcpy(values, device, sizeof values, cudaMemcpyDefault) != cudaSuccess) return 1;
    printf("%d\n", values[3]);
    return values[3] == (count > 1 ? 8 : 4) ? 0 : 1;
}
