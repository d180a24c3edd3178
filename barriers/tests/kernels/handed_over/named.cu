// Producers and consumers that hand over parts of shared memory by named barriers, in rounds whose number only the host knows (CudaDMA,
// PLDI 2015). Each comes right, and with mistakes.
// nvcc: -ptx -lineinfo -O3 -arch=compute_75

constexpr int T = 64; // threads of each side

static __device__ void sync(int id, int count) {
    asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(count) : "memory");
}

static __device__ void arrive(int id, int count) {
    asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(count) : "memory");
}

enum Mistake { NONE, NO_EMPTY, NO_FULL, NO_ARRIVE, EARLY, LATE };

// One buffer. LATE: in the thirtieth round nobody waits for it to be empty.
template <Mistake M>
static __device__ void single(const float *in, float *out, int n) {
    __shared__ float buffer[T];
    const int t = threadIdx.x % T;
    if (threadIdx.x < T) {
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            if (M != NO_EMPTY && !(M == LATE && i == 30))
                sync(2, 2 * T);
            buffer[t] = in[i * T + t];
            arrive(1, 2 * T);
        }
        if (M != NO_EMPTY)
            sync(2, 2 * T);
    } else {
        float sum = 0;
        if (M != NO_EMPTY)
            arrive(2, 2 * T);
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            if (M != NO_FULL)
                sync(1, 2 * T);
            if (M == EARLY)
                arrive(2, 2 * T);
            sum += buffer[T - 1 - t];
            if (M != EARLY && M != NO_EMPTY && M != NO_ARRIVE)
                arrive(2, 2 * T);
        }
        out[t] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(2 * T) single_buffer(const float *in, float *out, int n) {
    single<NONE>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) single_no_empty(const float *in, float *out, int n) {
    single<NO_EMPTY>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) single_no_full(const float *in, float *out, int n) {
    single<NO_FULL>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) single_no_arrive(const float *in, float *out, int n) {
    single<NO_ARRIVE>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) single_early(const float *in, float *out, int n) {
    single<EARLY>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) single_late(const float *in, float *out, int n) {
    single<LATE>(in, out, n);
}

// Two buffers by turns, with barriers of their own: 1 and 2 are full, 3 and 4 are empty. EARLY: the consumers read the other one. LATE:
// from the fortieth round on.
template <Mistake M>
static __device__ void twice(const float *in, float *out, int n) {
    __shared__ float buffer[2][T];
    const int t = threadIdx.x % T;
    if (threadIdx.x < T) {
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            const int b = i & 1;
            if (M != NO_EMPTY)
                sync(3 + b, 2 * T);
            buffer[b][t] = in[i * T + t];
            if (M != NO_ARRIVE || b == 0)
                arrive(1 + b, 2 * T);
        }
        if (M != NO_EMPTY) {
            sync(3, 2 * T);
            sync(4, 2 * T);
        }
    } else {
        float sum = 0;
        if (M != NO_EMPTY) {
            arrive(3, 2 * T);
            arrive(4, 2 * T);
        }
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            const int b = i & 1, read = M == EARLY || (M == LATE && i >= 40) ? b ^ 1 : b;
            if (M != NO_FULL || b == 0)
                sync(1 + b, 2 * T);
            sum += buffer[read][T - 1 - t];
            if (M != NO_EMPTY)
                arrive(3 + b, 2 * T);
        }
        out[t] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(2 * T) double_buffer(const float *in, float *out, int n) {
    twice<NONE>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) double_no_empty(const float *in, float *out, int n) {
    twice<NO_EMPTY>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) double_no_full(const float *in, float *out, int n) {
    twice<NO_FULL>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) double_no_arrive(const float *in, float *out, int n) {
    twice<NO_ARRIVE>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) double_early(const float *in, float *out, int n) {
    twice<EARLY>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) double_late(const float *in, float *out, int n) {
    twice<LATE>(in, out, n);
}

// Three warps in a ring, each of which passes a token on to the next; the first warp's round ends with the token back. HURRIED: the last one
// does not hand it back.
template <bool HURRIED>
static __device__ void ring(float *out, int n) {
    __shared__ float token[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (warp == 0) {
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            token[lane] += 1;
            arrive(1, 64);
            if (!HURRIED)
                sync(3, 64);
        }
        out[lane] = token[lane];
    } else if (warp == 1) {
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            sync(1, 64);
            token[lane] += 2;
            arrive(2, 64);
        }
    } else {
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            sync(2, 64);
            token[31 - lane] += 4;
            if (!HURRIED)
                arrive(3, 64);
        }
    }
}

extern "C" __global__ void __launch_bounds__(96) token_ring(float *out, int n) {
    ring<false>(out, n);
}
extern "C" __global__ void __launch_bounds__(96) token_ring_hurried(float *out, int n) {
    ring<true>(out, n);
}

// As compilers make loops that nobody tells them to leave alone: several rounds in one, and the rest behind. HURRIED: the consumers give
// a buffer back before they have read it.
template <bool HURRIED>
static __device__ void unrolled(const float *in, float *out, int n) {
    __shared__ float buffer[2][T];
    const int t = threadIdx.x % T;
    if (threadIdx.x < T) {
        for (int i = 0; i < n; i++) {
            sync(3 + i % 2, 2 * T);
            buffer[i % 2][t] = in[i * T + t];
            arrive(1 + i % 2, 2 * T);
        }
    } else {
        float sum = 0;
        arrive(3, 2 * T);
        arrive(4, 2 * T);
        for (int i = 0; i < n; i++) {
            sync(1 + i % 2, 2 * T);
            if (HURRIED)
                arrive(3 + i % 2, 2 * T);
            sum += buffer[i % 2][T - 1 - t];
            if (!HURRIED)
                arrive(3 + i % 2, 2 * T);
        }
        out[t] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(2 * T) unrolled_rounds(const float *in, float *out, int n) {
    unrolled<false>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) unrolled_hurried(const float *in, float *out, int n) {
    unrolled<true>(in, out, n);
}

// Rounds of rounds, neither of a known number. OFTEN: the producers have one round more in each.
template <bool OFTEN>
static __device__ void nested(const float *in, float *out, int m, int n) {
    __shared__ float buffer[T];
    const int t = threadIdx.x % T;
    if (threadIdx.x < T) {
#pragma unroll 1
        for (int j = 0; j < m; j++)
#pragma unroll 1
            for (int i = 0; OFTEN ? i <= n : i < n; i++) {
                sync(2, 2 * T);
                buffer[t] = in[i * T + t];
                arrive(1, 2 * T);
            }
    } else {
        arrive(2, 2 * T);
#pragma unroll 1
        for (int j = 0; j < m; j++) {
            float sum = 0;
#pragma unroll 1
            for (int i = 0; i < n; i++) {
                sync(1, 2 * T);
                sum += buffer[T - 1 - t];
                arrive(2, 2 * T);
            }
            out[j * T + t] = sum;
        }
    }
}

extern "C" __global__ void __launch_bounds__(2 * T) nested_rounds(const float *in, float *out, int m, int n) {
    nested<false>(in, out, m, n);
}
extern "C" __global__ void __launch_bounds__(2 * T) nested_too_often(const float *in, float *out, int m, int n) {
    nested<true>(in, out, m, n);
}
