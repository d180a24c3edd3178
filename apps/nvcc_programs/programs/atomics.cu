// nvcc program: -std=c++17
// libcu++: messages passed by release and acquire, a ticket lock, and a barrier of the block.
#include <cuda/atomic>
#include <cuda/barrier>

#include "check.h"

struct Lock {
    cuda::atomic<int, cuda::thread_scope_device> next{0}, serving{0};
};

__device__ int message[4];
__device__ cuda::atomic<int, cuda::thread_scope_device> ready{0};
__device__ Lock lock;
__device__ int counter, sums[8];

__global__ void pass_on(int *wrong) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            for (int i = 0; i < 4; i++) message[i] = 100 + i;
            ready.store(1, cuda::memory_order_release);
        }
    } else if (threadIdx.x == 0) {
        while (ready.load(cuda::memory_order_acquire) == 0) __nanosleep(20);
        for (int i = 0; i < 4; i++) {
            if (message[i] != 100 + i) atomicAdd(wrong, 1);
        }
    }
    if (threadIdx.x % 16 == 0) {
        int ticket = lock.next.fetch_add(1, cuda::memory_order_relaxed);
        while (lock.serving.load(cuda::memory_order_acquire) != ticket) {}
        counter += 1;
        lock.serving.store(ticket + 1, cuda::memory_order_release);
    }
}

__global__ void block_barrier() {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int parts[64];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    parts[threadIdx.x] = threadIdx.x + blockIdx.x;
    barrier.arrive_and_wait();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int part : parts) sum += part;
        sums[blockIdx.x] = sum;
    }
}

int main() {
    int *wrong, got = -1, sum[8];
    CHECK(cudaMalloc(&wrong, sizeof(int)));
    CHECK(cudaMemset(wrong, 0, sizeof(int)));
    pass_on<<<8, 64>>>(wrong);
    CHECK(cudaMemcpy(&got, wrong, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT("messages that came wrong", got, 0);
    CHECK(cudaMemcpyFromSymbol(&got, counter, sizeof got));
    EXPECT("counter under the lock", got, 8 * 4);
    block_barrier<<<8, 64>>>();
    CHECK(cudaMemcpyFromSymbol(sum, sums, sizeof sum));
    for (int block = 0; block < 8; block++) EXPECT("sum of a block", sum[block], 63 * 64 / 2 + 64 * block);
    return 0;
}
