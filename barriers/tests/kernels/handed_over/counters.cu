// Rings of stages between a producer and a consumer whose loops count in ways of their own: stages by remainders, one role counting up and the
// other one down, two stages in a round of the one, a first round before the loop. Each comes right, and with mistakes.
// nvcc: -ptx -lineinfo -O3 -arch=compute_90

#include <stdint.h>

constexpr int T = 32; // threads of a role, and words of a buffer

static __device__ uint32_t shared_address(const void *p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
static __device__ void init(uint64_t *b, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count) : "memory");
}
static __device__ void arrive(uint64_t *b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}
static __device__ void wait(uint64_t *b, int parity) {
    asm volatile("{\n .reg .pred p;\nagain%=:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n @!p bra again%=;\n}" ::"r"(
                     shared_address(b)),
                 "r"(parity)
                 : "memory");
}

enum Mistake { NONE, NO_EMPTY, NO_FULL, PARITY, STAGE, NO_ARRIVE, MORE, LATE };

template <int STAGES>
struct Ring {
    float buffer[STAGES][T];
    uint64_t full[STAGES], empty[STAGES];

    __device__ void start() {
        if (threadIdx.x == 0)
            for (int s = 0; s < STAGES; s++) {
                init(&full[s], T);
                init(&empty[s], T);
            }
        __syncthreads();
    }
    __device__ void produce(float value, int stage, int phase, int write, bool waits) {
        if (waits)
            wait(&empty[stage], phase ^ 1);
        buffer[write][threadIdx.x % T] = value;
        arrive(&full[stage]);
    }
    __device__ float consume(int stage, int phase, bool waits, bool arrives) {
        if (waits)
            wait(&full[stage], phase);
        const float value = buffer[stage][T - 1 - threadIdx.x % T];
        if (arrives)
            arrive(&empty[stage]);
        return value;
    }
};

// Stage and phase of a round by its number, I an integer of some kind.
template <typename I, int STAGES, Mistake M>
static __device__ void remainders(const float *in, float *out, I n) {
    __shared__ Ring<STAGES> ring;
    ring.start();
    if (threadIdx.x < T) {
        float sum = 0;
#pragma unroll 1
        for (I i = 0; i < n; i++) {
            const int stage = i % STAGES, phase = (i / STAGES) & 1;
            sum += ring.consume(stage, M == PARITY ? phase ^ 1 : phase, M != NO_FULL, M != NO_ARRIVE || stage != 1);
        }
        out[threadIdx.x] = sum;
    } else {
#pragma unroll 1
        for (I i = 0; i < n; i++) {
            const int stage = i % STAGES, phase = (i / STAGES) & 1;
            const int write = M == STAGE ? (i + 1) % STAGES : M == LATE && i == 40 ? 0 : stage;
            ring.produce(in[i * T + threadIdx.x], stage, phase, write, M != NO_EMPTY);
        }
    }
}

// The producer counts down to nought.
template <int STAGES, Mistake M>
static __device__ void opposite(const float *in, float *out, int n) {
    __shared__ Ring<STAGES> ring;
    ring.start();
    int stage = 0, phase = 0;
    const auto next = [&] {
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
    };
    if (threadIdx.x < T) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            sum += ring.consume(stage, phase, M != NO_FULL, true);
            next();
        }
        out[threadIdx.x] = sum;
    } else {
#pragma unroll 1
        for (int left = n; left > (M == MORE ? 1 : 0); left--) {
            ring.produce(in[left * T + threadIdx.x], stage, phase, stage, M != NO_EMPTY);
            next();
        }
    }
}

// The producer makes one stage in a round, the consumer takes two.
template <int STAGES, Mistake M>
static __device__ void doubled(const float *in, float *out, int n) {
    __shared__ Ring<STAGES> ring;
    ring.start();
    int stage = 0, phase = 0;
    const auto next = [&] {
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
    };
    if (threadIdx.x < T) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < n; i++)
            for (int half = 0; half < 2; half++) {
                sum += ring.consume(stage, phase, M != NO_FULL || half == 0, true);
                next();
            }
        out[threadIdx.x] = sum;
    } else {
        const int rounds = M == MORE ? 2 * n - 1 : 2 * n;
#pragma unroll 1
        for (int i = 0; i < rounds; i++) {
            ring.produce(in[i * T + threadIdx.x], stage, phase, stage, M != NO_EMPTY);
            next();
        }
    }
}

// The consumer takes its first stage before its loop.
template <int STAGES, Mistake M>
static __device__ void peeled(const float *in, float *out, int n) {
    __shared__ Ring<STAGES> ring;
    ring.start();
    int stage = 0, phase = 0;
    const auto next = [&] {
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
    };
    if (threadIdx.x < T) {
        float sum = 0;
        if (n > 0) {
            sum = 2 * ring.consume(stage, phase, M != NO_FULL, true);
            next();
#pragma unroll 1
            for (int i = 0; i < n - (M == MORE ? 4 : 1); i++) {
                sum += ring.consume(stage, phase, true, true);
                next();
            }
        }
        out[threadIdx.x] = sum;
    } else {
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            ring.produce(in[i * T + threadIdx.x], stage, phase, stage, M != NO_EMPTY);
            next();
        }
    }
}

#define KERNEL(NAME, I, ...)                                                                                           \
    extern "C" __global__ void __launch_bounds__(2 * T) NAME(const float *in, float *out, I n) {                       \
        __VA_ARGS__(in, out, n);                                                                                       \
    }

KERNEL(signed_3, int, remainders<int, 3, NONE>)
KERNEL(unsigned_3, uint32_t, remainders<uint32_t, 3, NONE>)
KERNEL(unsigned_5, uint32_t, remainders<uint32_t, 5, NONE>)
KERNEL(signed_5, int, remainders<int, 5, NONE>)
KERNEL(signed_6, int, remainders<int, 6, NONE>)
KERNEL(signed_7, int, remainders<int, 7, NONE>)
KERNEL(unsigned_7, uint32_t, remainders<uint32_t, 7, NONE>)
KERNEL(remainder_no_empty, int, remainders<int, 3, NO_EMPTY>)
KERNEL(remainder_no_full, int, remainders<int, 3, NO_FULL>)
KERNEL(remainder_parity, int, remainders<int, 3, PARITY>)
KERNEL(remainder_stage, uint32_t, remainders<uint32_t, 3, STAGE>)
KERNEL(remainder_no_arrive, uint32_t, remainders<uint32_t, 3, NO_ARRIVE>)
KERNEL(remainder_late, int, remainders<int, 3, LATE>)
KERNEL(opposite_1, int, opposite<1, NONE>)
KERNEL(opposite_3, int, opposite<3, NONE>)
KERNEL(opposite_no_empty, int, opposite<2, NO_EMPTY>)
KERNEL(opposite_no_full, int, opposite<2, NO_FULL>)
KERNEL(opposite_more, int, opposite<2, MORE>)
KERNEL(doubled_1, int, doubled<1, NONE>)
KERNEL(doubled_2, int, doubled<2, NONE>)
KERNEL(doubled_3, int, doubled<3, NONE>)
KERNEL(doubled_4, int, doubled<4, NONE>)
KERNEL(doubled_no_empty, int, doubled<2, NO_EMPTY>)
KERNEL(doubled_no_full, int, doubled<2, NO_FULL>)
KERNEL(doubled_more, int, doubled<2, MORE>)
KERNEL(peeled_1, int, peeled<1, NONE>)
KERNEL(peeled_3, int, peeled<3, NONE>)
KERNEL(peeled_no_empty, int, peeled<2, NO_EMPTY>)
KERNEL(peeled_no_full, int, peeled<2, NO_FULL>)
KERNEL(peeled_more, int, peeled<2, MORE>)
