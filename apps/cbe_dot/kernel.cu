// Dot product whose blocks add their partial sums to one global sum under a spin lock, after
// "CUDA by Example" (Sanders and Kandrot), appendix A.1: the program in which a missing fence in
// unlock() was first found. The variants differ in the fences of lock() and unlock() alone.

constexpr int kThreadsPerBlock = 256;

template <bool kFence>
__device__ __forceinline__ void lock(int *mutex) {
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    if constexpr (kFence) __threadfence();
}

template <bool kFence>
__device__ __forceinline__ void unlock(int *mutex) {
    if constexpr (kFence) __threadfence();
    atomicExch(mutex, 0);
}

// Each block reduces its share of a[i] * b[i] in shared memory; its first thread then adds the
// block's part to *sum while it holds the lock.
template <bool kFenceInLock, bool kFenceInUnlock>
__device__ __forceinline__ void dot(const float *a, const float *b, float *sum, int *mutex, int n) {
    __shared__ float cache[kThreadsPerBlock];
    float part = 0.0f;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        part += a[i] * b[i];
    }
    cache[threadIdx.x] = part;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) cache[threadIdx.x] += cache[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        lock<kFenceInLock>(mutex);
        *sum += cache[0];
        unlock<kFenceInUnlock>(mutex);
    }
}

extern "C" __global__ void dot_original_2_fence(const float *a, const float *b, float *sum, int *mutex, int n) {
    dot<true, true>(a, b, sum, mutex, n);
}

extern "C" __global__ void dot_1_fence(const float *a, const float *b, float *sum, int *mutex, int n) {
    dot<false, true>(a, b, sum, mutex, n);
}

extern "C" __global__ void dot_no_fence(const float *a, const float *b, float *sum, int *mutex, int n) {
    dot<false, false>(a, b, sum, mutex, n);
}

// The fewest fences under the PTX memory model: the original's. Without the one in lock(), *sum may be read
// before the lock is seen to be taken, as far as the model goes.
extern "C" __global__ void dot_ptx_correct(const float *a, const float *b, float *sum, int *mutex, int n) {
    dot<true, true>(a, b, sum, mutex, n);
}
