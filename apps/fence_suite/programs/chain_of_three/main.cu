#include <cstdio>
#include <cuda/atomic>

using Signal = cuda::atomic_ref<int, cuda::thread_scope_device>;

// Block 0 tells block 1, and block 1 tells block 2, which reads what block 0 wrote.
__global__ void rumour(int *story, int *first, int *second, int *heard) {
    if (blockIdx.x == 0) {
        *story = 88;
        Signal(*first).store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (Signal(*first).load(cuda::memory_order_relaxed) == 0) {
        }
        Signal(*second).store(1, cuda::memory_order_relaxed);
    } else {
        while (Signal(*second).load(cuda::memory_order_acquire) == 0) {
        }
        *heard = *story;
    }
}

int main() {
    int *memory, heard = 0;
    cudaMalloc(&memory, 4 * sizeof(int));
    cudaMemset(memory, 0, 4 * sizeof(int));
    rumour<<<3, 1>>>(memory, memory + 1, memory + 2, memory + 3);
    cudaMemcpy(&heard, memory + 3, sizeof(int), cudaMemcpyDeviceToHost);
    if (heard != 88) {
        std::printf("heard %d\n", heard);
        return 1;
    }
    return 0;
}
