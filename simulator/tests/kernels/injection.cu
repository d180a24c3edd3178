// Kernels whose outcome tells what the injected store buffers did.

// ---- message passing: the reader spins on a volatile flag, then reads plain data.

extern "C" __global__ void message(int *data, volatile int *flag, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        out[0] = *(volatile int *)data;
    }
}

extern "C" __global__ void message_fenced(int *data, volatile int *flag, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        out[0] = *(volatile int *)data;
    }
}

extern "C" __global__ void message_released(int *data, int *flag, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        int seen;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        } while (seen == 0);
        out[0] = *(volatile int *)data;
    }
}

// A status and its value in one vector, and the reader's the same: CUB's scans count on the pair staying whole.
extern "C" __global__ void message_in_a_vector(int *pair, int *, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {1, 42};" ::"l"(pair) : "memory");
    } else {
        int status, value;
        do {
            asm volatile("ld.relaxed.gpu.global.v2.u32 {%0, %1}, [%2];" : "=r"(status), "=r"(value) : "l"(pair) : "memory");
        } while (status == 0);
        out[0] = value;
    }
}

// ---- two threads that wait for each other: strong stores must come out while their thread spins.

extern "C" __global__ void handshake(volatile int *a, volatile int *b, int *out) {
    if (threadIdx.x != 0) return;
    volatile int *mine = blockIdx.x == 0 ? a : b, *other = blockIdx.x == 0 ? b : a;
    *mine = 1;
    while (*other == 0) {
    }
    out[blockIdx.x] = 1;
}

// The spinning lane comes to the shuffle only when it has seen the flag of the waiting one.
extern "C" __global__ void handshake_lanes(volatile int *flag, int *out) {
    if (threadIdx.x == 0) *flag = 1;
    if (threadIdx.x == 1) {
        while (*flag == 0) {
        }
    }
    out[threadIdx.x] = __shfl_sync(3u, threadIdx.x + 10, 0);
}

// Atomics are calls of the handler, too.
extern "C" __global__ void handshake_atomics(volatile int *flag, int *answer, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *flag = 1;
        while (atomicAdd(answer, 0) == 0) {
        }
    } else {
        while (*flag == 0) {
        }
        atomicExch(answer, 1);
    }
    out[blockIdx.x] = 1;
}

// ---- what drains: block 0 stores, passes one thing, and tells; block 1 looks.

template <class Passes>
__device__ __forceinline__ void drains(int *data, int *flag, int *out, Passes passes) {
    __shared__ int box;
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) *data = 42;
        passes(&box);
        if (threadIdx.x == 0) atomicExch(flag, 1);
    } else if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0) {
        }
        *out = *(volatile int *)data;
    }
}

extern "C" __global__ void past_nothing(int *data, int *flag, int *out) {
    drains(data, flag, out, [](int *) {});
}
extern "C" __global__ void past_fence(int *data, int *flag, int *out) {
    drains(data, flag, out, [](int *) { __threadfence(); });
}
extern "C" __global__ void past_fence_block(int *data, int *flag, int *out) {
    drains(data, flag, out, [](int *) { __threadfence_block(); });
}
extern "C" __global__ void past_barrier(int *data, int *flag, int *out) {
    drains(data, flag, out, [](int *) { __syncthreads(); });
}
extern "C" __global__ void past_warp_barrier(int *data, int *flag, int *out) {
    drains(data, flag, out, [](int *) { __syncwarp(); });
}
extern "C" __global__ void past_shuffle(int *data, int *flag, int *out) {
    drains(data, flag, out, [](int *box) { __shfl_sync(~0u, (int)threadIdx.x, 0); });
}
extern "C" __global__ void past_atomic_elsewhere(int *data, int *flag, int *out) {
    drains(data, flag, out, [](int *box) { atomicAdd(box, 1); });
}
extern "C" __global__ void past_atomic_there(int *data, int *flag, int *out) {
    drains(data, flag, out, [=](int *) { if (threadIdx.x == 0) atomicAdd(data, 0); });
}
extern "C" __global__ void past_release(int *data, int *flag, int *out) {
    drains(data, flag, out, [](int *box) {
        asm volatile("{ .reg .u64 p; st.release.gpu.u32 [%0], 1; }" ::"l"(box) : "memory");
    });
}
extern "C" __global__ void past_release_atomic(int *data, int *flag, int *out) {
    drains(data, flag, out, [](int *box) {
        asm volatile("red.release.cta.add.u32 [%0], 1;" ::"l"(box) : "memory");
    });
}
extern "C" __global__ void past_partial_load(int *data, int *flag, int *out) {
    drains(data, flag, out, [=](int *box) {
        if (threadIdx.x == 0 && *(volatile long long *)data == -1) *(volatile int *)box = 3;
    });
}
extern "C" __global__ void past_partial_store(int *data, int *flag, int *out) {
    drains(data, flag, out, [=](int *box) { if (threadIdx.x == 0) ((volatile unsigned char *)data)[1] = 1; });
}
extern "C" __global__ void past_exit(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) *data = 42;
    } else if (threadIdx.x == 0) {
        while (*(volatile int *)data == 0) {
        }
        *out = 42;
    }
}
// Three stores: a third does not fit two entries, and the first two come out.
extern "C" __global__ void past_capacity(int *data, int *flag, int *out) {
    drains(data, flag, out, [=](int *) {
        if (threadIdx.x == 0) data[1] = 1, data[2] = 2;
    });
}

// ---- __syncthreads between a global store and its reader in the same block.

extern "C" __global__ void across_barrier(int *data, int *out) {
    __shared__ int box[64];
    data[threadIdx.x] = threadIdx.x + 1;
    box[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    out[2 * threadIdx.x] = *(volatile int *)&data[threadIdx.x ^ 1];
    out[2 * threadIdx.x + 1] = box[threadIdx.x ^ 1];
}

// ---- one store site, executed many times: the coins of its executions.

extern "C" __global__ void coins(int *out, int rounds) {
    __shared__ int box[64];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < rounds; k++) out[t * rounds + k] = k;
#pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        unsigned at = (unsigned)__cvta_generic_to_shared(box + ((threadIdx.x + k) & 63));
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(k) : "memory");
    }
}

// Element by element.
extern "C" __global__ void vector_coins(int4 *out, int rounds) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < rounds; k++) out[t * rounds + k] = make_int4(k, k, k, k);
}

// ---- faults stay what they are.

extern "C" __global__ void beyond(int *data, long long at) { data[at] = 1; }
extern "C" __global__ void misaligned(char *data) { *(volatile int *)(data + 1) = 1; }
extern "C" __global__ void misaligned_vector(char *data) { *(int4 *)(data + 4) = make_int4(1, 2, 3, 4); }

// ---- programs without races.

// Sums in a tree within each block, then over blocks under a lock.
extern "C" __global__ void reduction(const float *in, float *sum, int *mutex, int n) {
    __shared__ float cache[64];
    float part = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) part += in[i];
    cache[threadIdx.x] = part;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) cache[threadIdx.x] += cache[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        while (atomicCAS(mutex, 0, 1) != 0) {
        }
        __threadfence();
        *sum += cache[0];
        __threadfence();
        atomicExch(mutex, 0);
    }
}

// A stencil: each thread stores what it and its neighbours read back after a barrier.
extern "C" __global__ void stencil(int *data, int rounds) {
    __shared__ int now[66], next[66];
    int t = threadIdx.x + 1, i = blockIdx.x * blockDim.x + threadIdx.x;
    now[t] = data[i];
    if (threadIdx.x == 0) now[0] = now[65] = 0;
    for (int k = 0; k < rounds; k++) {
        __syncthreads();
        next[t] = now[t - 1] + 2 * now[t] + now[t + 1];
        next[t] ^= k;
        __syncthreads();
        now[t] = next[t];
    }
    data[i] = now[t];
}

// Lane to lane under __syncwarp.
extern "C" __global__ void warp_scan(int *data) {
    __shared__ int box[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, lane = t & 31;
    box[t] = data[i];
    __syncwarp();
    for (int step = 1; step < 32; step *= 2) {
        int other = lane >= step ? box[t - step] : 0;
        __syncwarp();
        box[t] += other;
        __syncwarp();
    }
    data[i] = box[t];
}
