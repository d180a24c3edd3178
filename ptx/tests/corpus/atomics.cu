// nvcc: -ptx -arch=compute_75
#include <cuda/atomic>
__global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d, long long *s,
                        unsigned short *h) {
    __shared__ unsigned sh[32];
    __shared__ unsigned long long sl[4];
    __shared__ float sf[3];
    unsigned t = threadIdx.x;
    sh[t] = 0;
    sl[t & 3] = 0;
    sf[t % 3] = 0;
    __syncthreads();
    i[0] = atomicAdd(i, 1) + atomicSub(i + 1, 2) + atomicExch(i + 2, 3) + atomicMin(i + 3, 4) +
           atomicMax(i + 4, 5) + atomicCAS(i + 5, 6, 7) + atomicAnd(i + 6, 8) + atomicOr(i + 7, 9) +
           atomicXor(i + 8, 10);
    u[0] = atomicInc(u, 10) + atomicDec(u + 1, 11) + atomicMin(u + 2, 1u) + atomicMax(u + 3, 1u) +
           atomicAdd(sh, 1u) + atomicInc(sh + 1, 7) + atomicExch(sh + 2, 1u) + atomicCAS(sh + 3, 1u, 2u) +
           atomicOr(sh + 4, 3);
    l[0] = atomicAdd(l, 1ull) + atomicExch(l + 1, 2ull) + atomicCAS(l + 2, 3ull, 4ull) +
           atomicMin(l + 3, 1ull) + atomicMax(l + 4, 1ull) + atomicAnd(l + 5, 1ull) + atomicOr(l + 6, 1ull) +
           atomicXor(l + 7, 1ull) + atomicAdd(sl, 1ull);
    s[0] = atomicMin(s + 1, 1ll) + atomicMax(s + 2, 4ll);
    f[0] = atomicAdd(f, 1.0f) + atomicExch(f + 1, 2.0f) + atomicAdd(sf, 1.0f);
    d[0] = atomicAdd(d, 1.0);
    atomicAdd_block(i + 9, 1);
    atomicAdd_system(i + 10, 1);
    atomicCAS_block(i + 11, 1, 2);
    atomicExch_block(i + 12, 1);
    atomicMax_system(i + 3, 3);
    atomicAdd(i + 20, 1);
    atomicCAS(h, (unsigned short)1, (unsigned short)2);
    int *g = t & 1 ? i : (int *)sh;
    atomicAdd(g, 4);
    atomicCAS(g, 1, 2);
    atomicExch(g, 6);
}
__global__ void refs(int *p, unsigned long long *q, int *flag) {
    cuda::atomic_ref<int, cuda::thread_scope_device> a(*p);
    cuda::atomic_ref<int, cuda::thread_scope_block> b(p[1]);
    cuda::atomic_ref<int, cuda::thread_scope_system> c(p[2]);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_block> e(*q);
    a.store(1, cuda::memory_order_release);
    b.store(2, cuda::memory_order_relaxed);
    c.store(3, cuda::memory_order_seq_cst);
    p[9] = a.load(cuda::memory_order_acquire) + b.load(cuda::memory_order_relaxed) +
           c.load(cuda::memory_order_seq_cst);
    a.fetch_add(1, cuda::memory_order_acq_rel);
    b.fetch_or(1, cuda::memory_order_acquire);
    c.fetch_and(1, cuda::memory_order_release);
    a.exchange(5, cuda::memory_order_relaxed);
    int want = 4;
    a.compare_exchange_strong(want, 6, cuda::memory_order_acq_rel);
    a.fetch_min(2, cuda::memory_order_relaxed);
    e.fetch_add(1, cuda::memory_order_seq_cst);
    e.store(7, cuda::memory_order_release);
    e.load(cuda::memory_order_acquire);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_block);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    while (a.load(cuda::memory_order_acquire) != 3)
        __nanosleep(20);
}
__device__ int lock_word;
__global__ void spin(double *sum, double v) {
    __shared__ double part[8];
    part[threadIdx.x & 7] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock_word, 0, 1) != 0) {
        }
        __threadfence();
        *sum += part[0];
        __threadfence();
        atomicExch(&lock_word, 0);
    }
}
