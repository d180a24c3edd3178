// race: ptx=none barracuda=none | a lock by atom.cas.acquire and st.release of device scope
#include <cuda/atomic>

__device__ int held, counter;

__global__ void count() {
    cuda::atomic_ref<int, cuda::thread_scope_device> lock(held);
    int expected = 0;
    while (!lock.compare_exchange_strong(expected, 1, cuda::memory_order_acquire)) expected = 0;
    counter++;
    lock.store(0, cuda::memory_order_release);
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
