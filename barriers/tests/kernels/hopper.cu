// nvcc: -ptx -lineinfo -arch=compute_90a
// Matrix multiplications on compute capability 9.0, as far as their synchronisation goes: tensor copies into a ring of stages, wgmma by
// descriptor, results that go back by a bulk copy. Warpgroup 0 holds the producer, the others consume.

#include <stdint.h>

constexpr int ROWS = 64, COLUMNS = 16, DEPTH = 64;           // of a tile: A is ROWS x DEPTH, B is COLUMNS x DEPTH, of 16 bits
constexpr int A_BYTES = ROWS * DEPTH * 2, B_BYTES = COLUMNS * DEPTH * 2;
constexpr int STEPS = 7;                                      // tiles along the sum
constexpr int RESULTS = 2;                                    // tiles of the result

struct alignas(64) Map {
    uint64_t words[16];
};

static __device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
template <int COUNT> static __device__ void init(uint64_t *b) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "n"(COUNT) : "memory");
}
static __device__ void arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
static __device__ void arrive_at(uint64_t *b, uint32_t rank) {
    asm volatile("{\n .reg .b32 there;\n mapa.shared::cluster.u32 there, %0, %1;\n mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(at(b)),
                 "r"(rank)
                 : "memory");
}
template <int BYTES> static __device__ void expect(uint64_t *b) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "n"(BYTES) : "memory");
}
static __device__ void wait(uint64_t *b, int parity) {
    asm volatile(
        "{\n .reg .pred done;\nAGAIN:\n mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n @done bra DONE;\n bra AGAIN;\nDONE:\n}" ::"r"(
            at(b)),
        "r"(parity)
        : "memory");
}
static __device__ bool elect() {
    uint32_t yes;
    asm volatile("{\n .reg .pred p;\n elect.sync _|p, 0xffffffff;\n selp.u32 %0, 1, 0, p;\n}" : "=r"(yes));
    return yes;
}
static __device__ void load(void *to, const Map &map, int x, int y, uint64_t *full) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at(to)),
                 "l"(&map), "r"(x), "r"(y), "r"(at(full))
                 : "memory");
}
static __device__ void load_to_all(void *to, const Map &map, int x, int y, uint64_t *full) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
            at(to)),
        "l"(&map), "r"(x), "r"(y), "r"(at(full)), "h"((uint16_t)3)
        : "memory");
}
static __device__ void make_inits_visible() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
static __device__ void make_stores_visible() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
static __device__ void store(const Map &map, int x, int y, const void *from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y), "r"(at(from))
                 : "memory");
}
static __device__ void commit_store() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
static __device__ void wait_for_stores() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
template <int THREADS> static __device__ void meet(int id) { asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(THREADS) : "memory"); }
template <int THREADS> static __device__ void come(int id) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(THREADS) : "memory"); }
// Rows of 128 bytes, swizzled.
static __device__ uint64_t matrix(const void *p) {
    return (uint64_t)((at(p) & 0x3ffff) >> 4) | (uint64_t)(16 >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}
static __device__ void multiply(float (&d)[8], const void *a, const void *b) {
    uint64_t from_a = matrix(a), from_b = matrix(b);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < DEPTH / 16; k++)
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
            : "l"(from_a + 2 * k), "l"(from_b + 2 * k));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int LEFT> static __device__ void wait_for_products() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory"); }

template <int STAGES, int CONSUMERS> struct alignas(1024) Ring {
    uint8_t a[STAGES][CONSUMERS][A_BYTES];
    uint8_t b[STAGES][B_BYTES];
    float d[CONSUMERS][ROWS * COLUMNS];
    uint64_t full[STAGES], empty[STAGES];
};

// Writes a warpgroup's sums to its own part of shared memory, from where one thread copies them out. AGAIN: it may still be copied out from before.
template <bool AGAIN> static __device__ void epilogue(float (&sum)[8], float *d, const Map &out, int x, int y, int barrier) {
    int thread = threadIdx.x % 128;
    if (AGAIN) {
        if (thread == 0) wait_for_stores();
        meet<128>(barrier);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) d[i * 128 + thread] = sum[i];
    make_stores_visible();
    meet<128>(barrier);
    if (thread == 0) {
        store(out, x, y, d);
        commit_store();
    }
}

// One producer, CONSUMERS warpgroups that each have rows of A of their own and share B. Each gives a stage back when it has read it, one thread
// for all; with several stages one multiplication stays under way.
template <int STAGES, int CONSUMERS>
static __device__ void specialised(const Map &a, const Map &b, const Map &out) {
    extern __shared__ __align__(1024) uint8_t memory[];
    auto &ring = *reinterpret_cast<Ring<STAGES, CONSUMERS> *>(memory);
    int warpgroup = threadIdx.x / 128;
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int s = 0; s < STAGES; s++) {
            init<1>(&ring.full[s]);
            init<CONSUMERS>(&ring.empty[s]);
        }
        make_inits_visible();
    }
    __syncthreads();
    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x / 32 == 1 && elect()) {
            int stage = 0, phase = 1;
#pragma unroll 1
            for (int step = 0; step < RESULTS * STEPS; step++) {
                wait(&ring.empty[stage], phase);
                expect<CONSUMERS * A_BYTES + B_BYTES>(&ring.full[stage]);
#pragma unroll
                for (int c = 0; c < CONSUMERS; c++) load(ring.a[stage][c], a, step * DEPTH, c * ROWS, &ring.full[stage]);
                load(ring.b[stage], b, step * DEPTH, 0, &ring.full[stage]);
                if (++stage == STAGES) {
                    stage = 0;
                    phase ^= 1;
                }
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        constexpr bool LATE = STAGES > 1;
        int stage = 0, phase = 0, release = 0;
#pragma unroll 1
        for (int tile = 0; tile < RESULTS; tile++) {
            float sum[8] = {};
#pragma unroll 1
            for (int step = 0; step < STEPS; step++) {
                wait(&ring.full[stage], phase);
                multiply(sum, ring.a[stage][warpgroup - 1], ring.b[stage]);
                wait_for_products<LATE ? 1 : 0>();
                if (step >= LATE) {
                    if (threadIdx.x % 128 == 0) arrive(&ring.empty[release]);
                    if (++release == STAGES) release = 0;
                }
                if (++stage == STAGES) {
                    stage = 0;
                    phase ^= 1;
                }
            }
            if (LATE) {
                wait_for_products<0>();
                if (threadIdx.x % 128 == 0) arrive(&ring.empty[release]);
                if (++release == STAGES) release = 0;
            }
            epilogue<true>(sum, ring.d[warpgroup - 1], out, tile * COLUMNS, (warpgroup - 1) * ROWS, warpgroup);
        }
    }
}
#define SPECIALISED(name, stages, consumers)                                                                                    \
    extern "C" __global__ void __launch_bounds__(128 * (1 + consumers), 1)                                                      \
        name(const __grid_constant__ Map a, const __grid_constant__ Map b, const __grid_constant__ Map out) {                   \
        specialised<stages, consumers>(a, b, out);                                                                              \
    }
SPECIALISED(one_stage, 1, 1)
SPECIALISED(two_stages, 2, 1)
SPECIALISED(three_stages, 3, 2)
SPECIALISED(four_stages, 4, 2)

// Everybody multiplies, and thread 0 loads ahead.
extern "C" __global__ void __launch_bounds__(128, 1)
    in_turn(const __grid_constant__ Map a, const __grid_constant__ Map b, const __grid_constant__ Map out) {
    constexpr int STAGES = 3;
    extern __shared__ __align__(1024) uint8_t memory[];
    auto &ring = *reinterpret_cast<Ring<STAGES, 1> *>(memory);
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int s = 0; s < STAGES; s++) init<1>(&ring.full[s]);
        make_inits_visible();
    }
    __syncthreads();
    float sum[8] = {};
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int s = 0; s < STAGES; s++) {
            expect<A_BYTES + B_BYTES>(&ring.full[s]);
            load(ring.a[s][0], a, s * DEPTH, 0, &ring.full[s]);
            load(ring.b[s], b, s * DEPTH, 0, &ring.full[s]);
        }
    }
#pragma unroll 1
    for (int step = 0; step < STEPS; step++) {
        int s = step % STAGES;
        wait(&ring.full[s], step / STAGES & 1);
        multiply(sum, ring.a[s][0], ring.b[s]);
        wait_for_products<0>();
        meet<128>(0);
        if (threadIdx.x == 0 && step + STAGES < STEPS) {
            expect<A_BYTES + B_BYTES>(&ring.full[s]);
            load(ring.a[s][0], a, (step + STAGES) * DEPTH, 0, &ring.full[s]);
            load(ring.b[s], b, (step + STAGES) * DEPTH, 0, &ring.full[s]);
        }
    }
    epilogue<false>(sum, ring.d[0], out, 0, 0, 1);
}

// Two consumers that take turns: while one multiplies a tile of the result, the other writes its own out. Barriers 2 and 3 say whose turn it is
// to multiply, 4 and 5 whose it is to write.
extern "C" __global__ void __launch_bounds__(384, 1)
    ping_pong(const __grid_constant__ Map a, const __grid_constant__ Map b, const __grid_constant__ Map out) {
    constexpr int STAGES = 2, TILES = 4, ROUNDS = 3;
    extern __shared__ __align__(1024) uint8_t memory[];
    auto &ring = *reinterpret_cast<Ring<STAGES, 1> *>(memory);
    int warpgroup = threadIdx.x / 128;
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int s = 0; s < STAGES; s++) {
            init<1>(&ring.full[s]);
            init<1>(&ring.empty[s]);
        }
        make_inits_visible();
    }
    __syncthreads();
    if (warpgroup == 0) {
        if (threadIdx.x == 32) {
#pragma unroll 1
            for (int load_number = 0; load_number < TILES * ROUNDS; load_number++) {
                int stage = load_number % STAGES;
                wait(&ring.empty[stage], load_number / STAGES & 1 ^ 1);
                expect<A_BYTES + B_BYTES>(&ring.full[stage]);
                load(ring.a[stage][0], a, load_number * DEPTH, 0, &ring.full[stage]);
                load(ring.b[stage], b, load_number * DEPTH, 0, &ring.full[stage]);
            }
        }
    } else {
        int own = warpgroup - 1, other = own ^ 1;
        // The second one lets the first one begin.
        if (own == 1) {
            come<256>(2);
            come<256>(4);
        }
#pragma unroll 1
        for (int tile = own; tile < TILES; tile += 2) {
            float sum[8] = {};
            meet<256>(2 + own);
#pragma unroll 1
            for (int round = 0; round < ROUNDS; round++) {
                int number = tile * ROUNDS + round, stage = number % STAGES;
                wait(&ring.full[stage], number / STAGES & 1);
                multiply(sum, ring.a[stage][0], ring.b[stage]);
                wait_for_products<0>();
                if (threadIdx.x % 128 == 0) arrive(&ring.empty[stage]);
            }
            if (tile + 1 < TILES) come<256>(2 + other);
            meet<256>(4 + own);
            epilogue<false>(sum, ring.d[0], out, 0, tile * ROWS, 6 + own);
            if (threadIdx.x % 128 == 0) wait_for_stores();
            if (tile + 1 < TILES) come<256>(4 + other);
        }
    }
}

// Two blocks: each loads half of B for both and all of its own A; a stage is empty when both blocks have read it.
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256, 1)
    cluster(const __grid_constant__ Map a, const __grid_constant__ Map b, const __grid_constant__ Map out) {
    constexpr int STAGES = 3;
    extern __shared__ __align__(1024) uint8_t memory[];
    auto &ring = *reinterpret_cast<Ring<STAGES, 1> *>(memory);
    int warpgroup = threadIdx.x / 128;
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int s = 0; s < STAGES; s++) {
            init<1>(&ring.full[s]);
            init<2>(&ring.empty[s]);
        }
        make_inits_visible();
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (warpgroup == 0) {
        if (threadIdx.x / 32 == 0 && elect()) {
            int stage = 0, phase = 1;
#pragma unroll 1
            for (int step = 0; step < RESULTS * STEPS; step++) {
                wait(&ring.empty[stage], phase);
                expect<A_BYTES + B_BYTES>(&ring.full[stage]);
                load(ring.a[stage][0], a, step * DEPTH, rank * ROWS, &ring.full[stage]);
                load_to_all(ring.b[stage] + rank * (B_BYTES / 2), b, step * DEPTH, rank * COLUMNS / 2, &ring.full[stage]);
                if (++stage == STAGES) {
                    stage = 0;
                    phase ^= 1;
                }
            }
            // The other block still arrives here: the stages must be there until it has.
#pragma unroll 1
            for (int s = 0; s < STAGES; s++) {
                wait(&ring.empty[stage], phase);
                if (++stage == STAGES) {
                    stage = 0;
                    phase ^= 1;
                }
            }
        }
    } else {
        int stage = 0, phase = 0;
#pragma unroll 1
        for (int tile = 0; tile < RESULTS; tile++) {
            float sum[8] = {};
#pragma unroll 1
            for (int step = 0; step < STEPS; step++) {
                wait(&ring.full[stage], phase);
                multiply(sum, ring.a[stage][0], ring.b[stage]);
                wait_for_products<0>();
                if (threadIdx.x % 128 < 2) arrive_at(&ring.empty[stage], threadIdx.x % 128);
                if (++stage == STAGES) {
                    stage = 0;
                    phase ^= 1;
                }
            }
            epilogue<true>(sum, ring.d[0], out, rank * COLUMNS, tile * ROWS, 1);
        }
    }
}
