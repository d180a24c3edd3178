// race: ptx=none barracuda=none | MP by st.release and ld.acquire of device scope
#include <cuda/atomic>

__device__ int data, flag, out;

__global__ void pass() {
    cuda::atomic_ref<int, cuda::thread_scope_device> mark(flag);
    if (blockIdx.x == 0) {
        data = 42;
        mark.store(1, cuda::memory_order_release);
    } else {
        while (mark.load(cuda::memory_order_acquire) == 0) {
        }
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
