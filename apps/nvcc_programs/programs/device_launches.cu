// nvcc program: -arch=sm_90 -rdc=true
// Kernels that launch kernels: recursion, streams of the device, what comes before and after what.
#include "check.h"

// Sorts by splitting around a pivot, and launching itself for both halves.
__global__ void quicksort(int *values, int left, int right, int depth) {
    if (depth >= 12 || right - left < 8) {
        for (int i = left; i <= right; i++)
            for (int j = i; j > left && values[j] < values[j - 1]; j--) {
                int other = values[j];
                values[j] = values[j - 1];
                values[j - 1] = other;
            }
        return;
    }
    int low = left, high = right, pivot = values[(left + right) / 2];
    while (low <= high) {
        while (values[low] < pivot) low++;
        while (values[high] > pivot) high--;
        if (low <= high) {
            int other = values[low];
            values[low++] = values[high];
            values[high--] = other;
        }
    }
    cudaStream_t stream;
    if (left < high) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(values, left, high, depth + 1);
        cudaStreamDestroy(stream);
    }
    if (low < right) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(values, low, right, depth + 1);
        cudaStreamDestroy(stream);
    }
}

struct Step {
    int factor, summand;
};

__global__ void transform(int *values, Step step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = values[i] * step.factor + step.summand;
}
__global__ void sum(const int *values, int n, int *result) {
    extern __shared__ int parts[];
    parts[threadIdx.x] = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) parts[threadIdx.x] += values[i];
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *result = parts[0];
}

// Each block's launches are in order; the sum comes after all of them.
__global__ void parent(int *values, int *result, int *errors) {
    values[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x > 0) return;
    int *mine = values + blockIdx.x * 64;
    transform<<<2, 32>>>(mine, Step{3, 1});
    transform<<<2, 32>>>(mine, Step{2, 5});
    if (cudaGetLastError() != cudaSuccess) atomicAdd(errors, 1);
    if (blockIdx.x == 0) {
        sum<<<1, 64, 64 * sizeof(int), cudaStreamTailLaunch>>>(values, 64 * gridDim.x, result);
        // Too many threads.
        transform<<<1, 2048>>>(mine, Step{0, 0});
        if (cudaGetLastError() != cudaErrorInvalidConfiguration) atomicAdd(errors, 100);
        cudaMemsetAsync(result + 1, 1, sizeof(int), cudaStreamFireAndForget);
    }
}

int main() {
    const int n = 600, blocks = 4;
    int *values, *result, host[n], answers[3];
    CHECK(cudaMalloc(&values, n * sizeof(int)));
    CHECK(cudaMalloc(&result, 3 * sizeof(int)));
    Noise noise{7};
    for (int &value : host) value = noise.next() % 1000;
    long total = 0;
    for (int value : host) total += value;
    CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    quicksort<<<1, 1>>>(values, 0, n - 1, 0);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 1; i < n; i++) EXPECT("order", host[i - 1] <= host[i], true);
    for (int value : host) total -= value;
    EXPECT("sum", total, 0);

    CHECK(cudaMemset(result, 0, 3 * sizeof(int)));
    parent<<<blocks, 64>>>(values, result, result + 2);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(answers, result, sizeof answers, cudaMemcpyDeviceToHost));
    int expected = 0;
    for (int i = 0; i < 64; i++) expected += blocks * ((i * 3 + 1) * 2 + 5);
    EXPECT("sum of blocks", answers[0], expected);
    EXPECT("bytes set", answers[1], 0x01010101);
    EXPECT("errors", answers[2], 0);
    return 0;
}
