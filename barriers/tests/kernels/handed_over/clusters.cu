// Blocks of a cluster of two in rounds whose number only the host knows: they read each other's shared memory between barriers of the cluster, and
// one of them loads a ring of stages for both. Each comes right, and with mistakes.
// nvcc: -ptx -lineinfo -O3 -arch=compute_90

#include <stdint.h>

constexpr int T = 32; // consumers of a block, and words of a stage

static __device__ uint32_t at(const void *p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
// The same place in another block.
static __device__ uint32_t in(uint32_t place, uint32_t block) {
    uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place), "r"(block));
    return there;
}
static __device__ uint32_t rank() {
    uint32_t r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}
static __device__ void meet() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
static __device__ void init(uint64_t *b, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(count) : "memory");
}
static __device__ void expect(uint64_t *b, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory");
}
static __device__ void arrive_in(uint64_t *b, uint32_t block) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in(at(b), block)) : "memory");
}
static __device__ void wait(uint64_t *b, int parity) {
    asm volatile(
        "{\n .reg .pred p;\nagain%=:\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n @!p bra again%=;\n}" ::"r"(
            at(b)),
        "r"(parity)
        : "memory");
}

#define KERNEL(NAME, THREADS) \
    extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(THREADS) NAME(const float *from, float *out, int n)

// Each block reads what the other one has written. HURRIED: and writes again while the other one may still read.
template <bool HURRIED> static __device__ void exchange(const float *from, float *out, int n) {
    __shared__ float data[T];
    const uint32_t other = in(at(&data[T - 1 - threadIdx.x]), rank() ^ 1);
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        data[threadIdx.x] = from[i * T + threadIdx.x];
        meet();
        float value;
        asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(other) : "memory");
        sum += value;
        if (!HURRIED)
            meet();
    }
    meet();
    out[threadIdx.x] = sum;
}
KERNEL(exchange_rounds, T) { exchange<false>(from, out, n); }
KERNEL(exchange_hurried, T) { exchange<true>(from, out, n); }

enum Mistake { NONE, NO_EMPTY, NO_FULL, OWN_EMPTY, NO_END };

// Each block loads a half of each stage for both, when the consumers of both have read what was there.
template <int STAGES, Mistake M> static __device__ void multicast(const float *from, float *out, int n) {
    __shared__ alignas(128) float data[STAGES][T];
    __shared__ alignas(8) uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], 1);
            init(&empty[s], M == OWN_EMPTY ? T : 2 * T);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    meet();
    if (threadIdx.x < T) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            const int stage = i % STAGES, phase = (i / STAGES) & 1;
            if (M != NO_FULL)
                wait(&full[stage], phase);
            sum += data[stage][T - 1 - threadIdx.x];
            arrive_in(&empty[stage], rank());
            if (M != OWN_EMPTY)
                arrive_in(&empty[stage], rank() ^ 1);
        }
        out[threadIdx.x] = sum;
    } else if (threadIdx.x == T) {
        const int half = rank() * T / 2;
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            const int stage = i % STAGES, phase = (i / STAGES) & 1;
            if (M != NO_EMPTY)
                wait(&empty[stage], phase ^ 1);
            expect(&full[stage], T * 4);
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
                    at(data[stage] + half)),
                "l"(from + i * T + half), "r"(T * 2), "r"(at(&full[stage])), "h"((uint16_t)3)
                : "memory");
        }
    }
    if (M != NO_END)
        meet();
}
KERNEL(multicast_1, T + 32) { multicast<1, NONE>(from, out, n); }
KERNEL(multicast_2, T + 32) { multicast<2, NONE>(from, out, n); }
KERNEL(multicast_3, T + 32) { multicast<3, NONE>(from, out, n); }
KERNEL(multicast_no_empty, T + 32) { multicast<2, NO_EMPTY>(from, out, n); }
KERNEL(multicast_no_full, T + 32) { multicast<2, NO_FULL>(from, out, n); }
KERNEL(multicast_own_empty, T + 32) { multicast<2, OWN_EMPTY>(from, out, n); }
KERNEL(multicast_no_end, T + 32) { multicast<2, NO_END>(from, out, n); }
