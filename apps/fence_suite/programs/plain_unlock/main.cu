#include <cstdio>
#include <cuda/atomic>

__device__ int mutex;
__device__ int total;

__global__ void add_once() {
    cuda::atomic_ref<int, cuda::thread_scope_device> lock(mutex);
    while (lock.exchange(1, cuda::memory_order_acquire) != 0) {
    }
    total += 2;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    mutex = 0;
}

int main() {
    int sum = 0;
    add_once<<<5, 1>>>();
    cudaMemcpyFromSymbol(&sum, total, sizeof sum);
    if (sum != 10) {
        std::printf("total %d\n", sum);
        return 1;
    }
    return 0;
}
