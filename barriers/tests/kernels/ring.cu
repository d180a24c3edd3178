// nvcc: -ptx -lineinfo -arch=compute_90
// A ring of buffers between a thread that starts bulk copies and warps that consume them, synchronised by mbarriers: "full" completes when the
// bytes are there, "empty" when all consumers have read. PHASE: the consumers' parity is not turned when the ring comes round. NOWAIT: the
// producer does not wait for "empty". NOFULL: the consumers do not wait for "full".

#include <stdint.h>

constexpr int STAGES = 3, STEPS = 9, CONSUMERS = 64, WORDS = 64;

static __device__ uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
static __device__ void init(uint64_t *b, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count) : "memory");
}
static __device__ void arrive(uint64_t *b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}
static __device__ void expect(uint64_t *b, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
}
static __device__ bool try_wait(uint64_t *b, int parity) {
    uint32_t done;
    asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(shared_address(b)), "r"(parity)
                 : "memory");
    return done;
}
static __device__ void wait(uint64_t *b, int parity) {
    while (!try_wait(b, parity)) {
    }
}
static __device__ void copy(void *to, const void *from, int bytes, uint64_t *b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(b))
                 : "memory");
}

template <bool PHASE, bool NOWAIT, bool NOFULL>
static __device__ void ring_body(const float *in, float *out) {
    __shared__ alignas(128) float buffer[STAGES][WORDS];
    __shared__ alignas(8) uint64_t full[STAGES], empty[STAGES];
    int tid = threadIdx.x;
    if (tid == 0) {
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], 1);
            init(&empty[s], CONSUMERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (tid >= CONSUMERS) {
        if (tid == CONSUMERS) {
            for (int step = 0; step < STEPS; step++) {
                int s = step % STAGES, round = step / STAGES;
                if (round > 0 && !NOWAIT) wait(&empty[s], (round - 1) & 1);
                expect(&full[s], WORDS * 4);
                copy(buffer[s], in + step * WORDS, WORDS * 4, &full[s]);
            }
        }
    } else {
        float sum = 0;
        for (int step = 0; step < STEPS; step++) {
            int s = step % STAGES, round = step / STAGES;
            if (!NOFULL) wait(&full[s], PHASE ? 0 : round & 1);
            sum += buffer[s][tid];
            arrive(&empty[s]);
        }
        out[tid] = sum;
    }
}
#define KERNEL(name, ...)                                                                                            \
    extern "C" __global__ void __launch_bounds__(CONSUMERS + 32, 1) name(const float *in, float *out) {              \
        ring_body<__VA_ARGS__>(in, out);                                                                             \
    }
KERNEL(ring, false, false, false)
KERNEL(ring_phase, true, false, false)
KERNEL(ring_no_empty_wait, false, true, false)
KERNEL(ring_no_full_wait, false, false, true)

// A test that gives up: what follows depends on how fast others are.
extern "C" __global__ void __launch_bounds__(64, 1) impatient(float *out) {
    __shared__ alignas(8) uint64_t b;
    __shared__ float data[64];
    if (threadIdx.x == 0) init(&b, 32);
    __syncthreads();
    if (threadIdx.x < 32) {
        arrive(&b);
    } else if (try_wait(&b, 0)) {
        data[threadIdx.x] = 1;
    }
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
}
