// Rings of buffers between producers and consumers, handed over by mbarriers, in rounds whose number only the host knows: by plain stores, by
// asynchronous copies that arrive themselves, and by bulk copies. Each comes right, and with mistakes.
// nvcc: -ptx -lineinfo -O3 -arch=compute_90

#include <stdint.h>

constexpr int T = 64; // consumers; producers of those who copy by hand
constexpr int W = 64; // words of a buffer

static __device__ uint32_t shared_address(const void *p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
static __device__ void init(uint64_t *b, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count) : "memory");
}
static __device__ void arrive(uint64_t *b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}
static __device__ void expect(uint64_t *b, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
}
static __device__ void arrive_with_copies(uint64_t *b) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(b)) : "memory");
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
static __device__ void copy(void *to, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
static __device__ void bulk(void *to, const void *from, int bytes, uint64_t *b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(b))
                 : "memory");
}

enum Mistake { NONE, NO_EMPTY, NO_FULL, PARITY, NO_ARRIVE, EARLY, LATE };
enum Way { STORES, COPIES, BULK };

// A stage and the parity of its phase.
struct Stage {
    int index = 0, parity = 0;
    __device__ void next(int stages) {
        if (++index == stages) {
            index = 0;
            parity ^= 1;
        }
    }
};

template <Way HOW, int STAGES, Mistake M>
static __device__ void ring(const float *in, float *out, int n) {
    __shared__ alignas(128) float buffer[STAGES][W];
    __shared__ alignas(8) uint64_t full[STAGES], empty[STAGES];
    const int tid = threadIdx.x, t = tid % T;
    if (tid == 0) {
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], HOW == BULK ? 1 : T);
            init(&empty[s], T);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    Stage at;
    if (tid < T) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            const bool late = M == LATE && i == 50;
            if (M != NO_FULL && !late)
                wait(&full[at.index], M == PARITY ? at.parity ^ 1 : at.parity);
            if (M == EARLY)
                arrive(&empty[at.index]);
            sum += buffer[at.index][W - 1 - t];
            if (M != EARLY && (M != NO_ARRIVE || at.index != 0))
                arrive(&empty[at.index]);
            at.next(STAGES);
        }
        out[t] = sum;
    } else if (HOW == BULK) {
        if (tid == T) {
#pragma unroll 1
            for (int i = 0; i < n; i++) {
                if (M != NO_EMPTY)
                    wait(&empty[at.index], at.parity ^ 1);
                expect(&full[at.index], W * 4);
                bulk(buffer[at.index], in + i * W, W * 4, &full[at.index]);
                at.next(STAGES);
            }
        }
    } else {
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            if (M != NO_EMPTY)
                wait(&empty[at.index], at.parity ^ 1);
            if (HOW == COPIES) {
                copy(&buffer[at.index][t], in + i * W + t);
                arrive_with_copies(&full[at.index]);
            } else {
                buffer[at.index][t] = in[i * W + t];
                arrive(&full[at.index]);
            }
            at.next(STAGES);
        }
    }
}

#define KERNEL(NAME, HOW, STAGES, MISTAKE, THREADS)                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const float *in, float *out, int n) {                  \
        ring<HOW, STAGES, MISTAKE>(in, out, n);                                                                       \
    }

KERNEL(stores_1, STORES, 1, NONE, 2 * T)
KERNEL(stores_2, STORES, 2, NONE, 2 * T)
KERNEL(stores_no_empty, STORES, 2, NO_EMPTY, 2 * T)
KERNEL(stores_no_full, STORES, 2, NO_FULL, 2 * T)
KERNEL(stores_parity, STORES, 2, PARITY, 2 * T)
KERNEL(stores_no_arrive, STORES, 2, NO_ARRIVE, 2 * T)
KERNEL(stores_early, STORES, 2, EARLY, 2 * T)
KERNEL(stores_late, STORES, 1, LATE, 2 * T)
KERNEL(copies_2, COPIES, 2, NONE, 2 * T)
KERNEL(copies_3, COPIES, 3, NONE, 2 * T)
KERNEL(copies_no_empty, COPIES, 2, NO_EMPTY, 2 * T)
KERNEL(copies_no_full, COPIES, 2, NO_FULL, 2 * T)
KERNEL(copies_early, COPIES, 3, EARLY, 2 * T)
KERNEL(bulk_2, BULK, 2, NONE, T + 32)
KERNEL(bulk_3, BULK, 3, NONE, T + 32)
KERNEL(bulk_4, BULK, 4, NONE, T + 32)
KERNEL(bulk_no_empty, BULK, 2, NO_EMPTY, T + 32)
KERNEL(bulk_no_full, BULK, 3, NO_FULL, T + 32)
KERNEL(bulk_parity, BULK, 3, PARITY, T + 32)
KERNEL(bulk_no_arrive, BULK, 3, NO_ARRIVE, T + 32)
KERNEL(bulk_early, BULK, 4, EARLY, T + 32)
KERNEL(bulk_late, BULK, 2, LATE, T + 32)

// All threads take part; the first one fetches what the round after the next one reads. HURRIED: before the others have read.
template <bool HURRIED>
static __device__ void refilled(const float *in, float *out, int n) {
    __shared__ alignas(128) float buffer[2][W];
    __shared__ alignas(8) uint64_t full[2];
    const int t = threadIdx.x;
    const auto fetch = [&](int i) {
        expect(&full[i & 1], W * 4);
        bulk(buffer[i & 1], in + i * W, W * 4, &full[i & 1]);
    };
    if (t == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        for (int i = 0; i < 2; i++)
            if (i < n)
                fetch(i);
    }
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        wait(&full[i & 1], i >> 1 & 1);
        sum += buffer[i & 1][W - 1 - t];
        if (!HURRIED)
            __syncthreads();
        if (t == 0 && i + 2 < n)
            fetch(i + 2);
        if (HURRIED)
            __syncthreads();
    }
    out[t] = sum;
}

extern "C" __global__ void __launch_bounds__(T) refill(const float *in, float *out, int n) {
    refilled<false>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(T) refill_hurried(const float *in, float *out, int n) {
    refilled<true>(in, out, n);
}

// The first buffers are filled without a wait, in a loop of its own.
extern "C" __global__ void __launch_bounds__(T + 32) filled_first(const float *in, float *out, int n) {
    __shared__ alignas(128) float buffer[4][W];
    __shared__ alignas(8) uint64_t full[4], empty[4];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 4; s++) {
            init(&full[s], 1);
            init(&empty[s], T);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    Stage at;
    if (t < T) {
        float sum = 0;
        for (int i = 0; i < n; i++, at.next(4)) {
            wait(&full[at.index], at.parity);
            sum += buffer[at.index][W - 1 - t];
            arrive(&empty[at.index]);
        }
        out[t] = sum;
    } else if (t == T) {
        const auto fetch = [&](int s, int i) {
            expect(&full[s], W * 4);
            bulk(buffer[s], in + i * W, W * 4, &full[s]);
        };
        int i = 0;
        for (; i < 4 && i < n; i++)
            fetch(i, i);
        for (; i < n; i++, at.next(4)) {
            wait(&empty[at.index], at.parity);
            fetch(at.index, i);
        }
    }
}
