// The sum of an array in one launch: the block that comes last adds up what the others have left.
#include <cstdio>

#define BLOCKS 4
#define THREADS 32

__device__ unsigned arrived;

__global__ void sum(const int *in, int *partial, int *out) {
    __shared__ int cache[THREADS];
    __shared__ bool last;
    const int t = threadIdx.x;
    cache[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) cache[t] += cache[t + half];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = cache[0];
        unsigned before = atomicInc(&arrived, BLOCKS - 1);
        last = before == BLOCKS - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int total = 0;
        for (int b = 0; b < BLOCKS; b++) total += partial[b];
        *out = total;
    }
}

int main() {
    const int n = BLOCKS * THREADS;
    int host[n], expected = 0, total = 0, *in, *partial, *out;
    for (int i = 0; i < n; i++) {
        host[i] = i % 7 + 1;
        expected += host[i];
    }
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&partial, BLOCKS * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(partial, 0, BLOCKS * sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    sum<<<BLOCKS, THREADS>>>(in, partial, out);
    cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
    if (total != expected) {
        printf("%d, not %d\n", total, expected);
        return 1;
    }
    return 0;
}
