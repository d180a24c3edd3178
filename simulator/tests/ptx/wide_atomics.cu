// Atomics, loads and stores of 128 bits, as the compiler has them for compute capability 9.0.
// nvcc: -ptx -lineinfo -arch=compute_90
//! buffer cell u64 2 = 0 0
//! buffer other u64 4 = 1 2 3 4
//! buffer out u64 8
//! buffer broken u64 1
//! launch count 2 64 : cell broken
//! launch once 1 1 : other out
//! expect cell = 128 384
//! expect broken = 0
//! expect other = 3 4 7 8
//! expect out = 1 2 9 9 3 4 5 6
struct alignas(16) Pair {
    unsigned long long a, b;
};

// Every thread adds 1 and 3 to the two halves at once; the second is always three times the first.
extern "C" __global__ void count(Pair *cell, unsigned long long *broken) {
    Pair old, next;
    __nv_atomic_load(cell, &old, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    do {
        if (old.b != 3 * old.a) atomicAdd(broken, 1);
        next = Pair{old.a + 1, old.b + 3};
    } while (!__nv_atomic_compare_exchange(
        cell, &old, &next, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE));
}

extern "C" __global__ void once(Pair *other, Pair *out) {
    __shared__ Pair here;
    here = Pair{9, 9};
    out[0] = atomicExch(other, Pair{3, 4});
    // The high half differs: nothing is written.
    out[1] = atomicCAS(&here, Pair{9, 8}, Pair{1, 1});
    out[2] = atomicCAS(other, Pair{3, 4}, Pair{5, 6});
    Pair seven{7, 8}, five;
    __nv_atomic_load(other, &five, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_store(other + 1, &seven, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    out[3] = five;
    atomicExch(other, Pair{3, 4});
}
