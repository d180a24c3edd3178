#include <cstdio>

// Publishes a row, then a count.
class Publisher {
  public:
    __device__ explicit Publisher(int *flag) : flag_(flag) {}

    __device__ void publish(int count) {
        __threadfence();
        atomicExch(flag_, count);
        __threadfence();
    }

  private:
    int *flag_;
};

__global__ void rows(int *row, int *flag, int *sum) {
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        row[t] = t;
        __syncthreads();
        if (t == 0) {
            Publisher publisher(flag);
            publisher.publish(blockDim.x);
        }
    } else if (t == 0) {
        int count;
        while ((count = atomicAdd(flag, 0)) == 0) {
        }
        __threadfence();
        int total = 0;
        for (int i = 0; i < count; i++) total += row[i];
        *sum = total;
    }
}

int main() {
    const int n = 32;
    int *memory, sum = 0;
    cudaMalloc(&memory, (n + 2) * sizeof(int));
    cudaMemset(memory, 0, (n + 2) * sizeof(int));
    rows<<<2, n>>>(memory, memory + n, memory + n + 1);
    cudaMemcpy(&sum, memory + n + 1, sizeof(int), cudaMemcpyDeviceToHost);
    if (sum != n * (n - 1) / 2) {
        std::printf("sum %d\n", sum);
        return 1;
    }
    return 0;
}
