// Atomics of every kind, releases and acquires, spin locks, fences of every scope.
#include <cuda/atomic>

extern "C" __global__ void plain(int *i, unsigned *u, unsigned long long *l, float *f, int *out) {
    __shared__ unsigned box;
    if (threadIdx.x == 0) box = 0;
    __syncthreads();
    atomicAdd(&box, 2u);
    atomicAdd(f, 1.0f);
    atomicMax(i, (int)threadIdx.x);
    atomicInc(u, 100);
    atomicAnd(u + 1, ~threadIdx.x);
    atomicOr_block(u + 2, threadIdx.x);
    atomicExch_system(l, threadIdx.x);
    out[threadIdx.x] = atomicCAS(l + 1, 0ull, (unsigned long long)threadIdx.x) + atomicSub(i + 1, 3);
    __syncthreads();
    out[threadIdx.x] += box;
}

extern "C" __global__ void orders(int *flag, int *data, long long *wide) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(*flag);
    cuda::atomic_ref<long long, cuda::thread_scope_block> block(*wide);
    if (threadIdx.x == 0) {
        data[0] = 42;
        ref.store(1, cuda::memory_order_release);
        data[1] = 43;
        ref.fetch_add(1, cuda::memory_order_acq_rel);
        block.store(5, cuda::memory_order_relaxed);
    } else {
        while (ref.load(cuda::memory_order_acquire) == 0) {
        }
        data[2 + threadIdx.x] = data[0];
        block.fetch_max(threadIdx.x, cuda::memory_order_release);
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_system);
    }
}

extern "C" __global__ void locked(int *mutex, int *sum) {
    if (threadIdx.x == 0) {
        while (atomicCAS(mutex, 0, 1) != 0) {
        }
        *sum += blockIdx.x;
        __threadfence();
        atomicExch(mutex, 0);
    }
}

extern "C" __global__ void fences(int *data) {
    data[threadIdx.x] = 1;
    __threadfence_block();
    data[threadIdx.x] = 2;
    __threadfence();
    data[threadIdx.x] = 3;
    __threadfence_system();
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    data[threadIdx.x] = 4;
    asm volatile("fence.sc.cta;" ::: "memory");
    asm volatile("st.release.gpu.global.u32 [%0], 5;" ::"l"(data + 64) : "memory");
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(data + 65) : "memory");
}
