#include <cstdio>
#include <cuda/atomic>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void hand_over(int *goods, int *flag, int *out) {
    Flag done(*flag);
    if (blockIdx.x == 0) {
        goods[0] = 5;
        goods[1] = 6;
        done.store(1, cuda::memory_order_relaxed);
    } else {
        while (done.load(cuda::memory_order_relaxed) == 0) {
        }
        __threadfence();
        out[0] = goods[0] * goods[1];
    }
}

int main() {
    int *memory, product = 0;
    cudaMalloc(&memory, 4 * sizeof(int));
    cudaMemset(memory, 0, 4 * sizeof(int));
    hand_over<<<2, 1>>>(memory, memory + 2, memory + 3);
    cudaMemcpy(&product, memory + 3, sizeof(int), cudaMemcpyDeviceToHost);
    if (product != 30) {
        std::printf("product %d\n", product);
        return 1;
    }
    return 0;
}
