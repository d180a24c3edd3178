// nvcc: -ptx -lineinfo -arch=compute_90a
// Matrix multiplications on compute capability 9.0 whose number of tiles along the sum only the host knows: tensor copies into a ring of stages,
// wgmma by descriptor. Warpgroup 0 holds the producer, the others consume. Their results go to global memory.

#include <stdint.h>

constexpr int ROWS = 64, COLUMNS = 16, DEPTH = 64; // of a tile: A is ROWS x DEPTH, B is COLUMNS x DEPTH, of 16 bits
constexpr int A_BYTES = ROWS * DEPTH * 2, B_BYTES = COLUMNS * DEPTH * 2;

struct alignas(64) Map {
    uint64_t words[16];
};

static __device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
template <int COUNT> static __device__ void init(uint64_t *b) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "n"(COUNT) : "memory");
}
static __device__ void arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
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
static __device__ void make_inits_visible() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
template <int THREADS> static __device__ void meet(int id) { asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(THREADS) : "memory"); }
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

// What a kernel does otherwise than it should.
enum Wrong { RIGHT, NO_EMPTY, NO_FULL, NO_RELEASE, NO_PRODUCTS_WAIT, NO_FENCE, PARITY, NO_EXPECT, EARLY_RELEASE, OTHER_STAGE };

template <int STAGES, int CONSUMERS> struct alignas(1024) Ring {
    uint8_t a[STAGES][CONSUMERS][A_BYTES];
    uint8_t b[STAGES][B_BYTES];
    uint64_t full[STAGES], empty[STAGES];
};

template <int STAGES> struct Position {
    int stage = 0, phase;
    __device__ Position(int phase) : phase(phase) {}
    __device__ void next() {
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
    }
};

// LATE: one multiplication stays under way, and the stage before it is given back.
template <int STAGES, int CONSUMERS, bool LATE, Wrong WRONG>
static __device__ void product(const Map &a, const Map &b, float *out, int tiles) {
    extern __shared__ __align__(1024) uint8_t memory[];
    auto &ring = *reinterpret_cast<Ring<STAGES, CONSUMERS> *>(memory);
    int warpgroup = threadIdx.x / 128;
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int s = 0; s < STAGES; s++) {
            init<1>(&ring.full[s]);
            init<CONSUMERS>(&ring.empty[s]);
        }
        if (WRONG != NO_FENCE) make_inits_visible();
    }
    __syncthreads();
    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x / 32 == 1 && elect()) {
            Position<STAGES> at(WRONG == PARITY ? 0 : 1);
#pragma unroll 1
            for (int step = 0; step < tiles; step++, at.next()) {
                if (WRONG != NO_EMPTY) wait(&ring.empty[at.stage], at.phase);
                constexpr int BYTES = CONSUMERS * A_BYTES + B_BYTES;
                expect<WRONG == NO_EXPECT ? BYTES - B_BYTES : BYTES>(&ring.full[at.stage]);
#pragma unroll
                for (int c = 0; c < CONSUMERS; c++) load(ring.a[at.stage][c], a, step * DEPTH, c * ROWS, &ring.full[at.stage]);
                load(ring.b[at.stage], b, step * DEPTH, 0, &ring.full[at.stage]);
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    Position<STAGES> at(0), release(0);
    float sum[8] = {};
    auto give_back = [&] {
        if (WRONG != NO_RELEASE && threadIdx.x % 128 == 0) arrive(&ring.empty[release.stage]);
        release.next();
    };
    if (LATE && tiles > 0) {
        wait(&ring.full[at.stage], at.phase);
        multiply(sum, ring.a[at.stage][warpgroup - 1], ring.b[at.stage]);
        at.next();
    }
#pragma unroll 1
    for (int step = LATE; step < tiles; step++) {
        if (WRONG != NO_FULL) wait(&ring.full[at.stage], at.phase);
        if (WRONG == EARLY_RELEASE) give_back();
        multiply(sum, ring.a[at.stage][warpgroup - 1], ring.b[WRONG == OTHER_STAGE ? STAGES - 1 - at.stage : at.stage]);
        if (WRONG != NO_PRODUCTS_WAIT) wait_for_products<LATE>();
        if (WRONG != EARLY_RELEASE) give_back();
        at.next();
    }
    wait_for_products<0>();
#pragma unroll
    for (int i = 0; i < 8; i++) out[((blockIdx.x * CONSUMERS + warpgroup - 1) * 8 + i) * 128 + threadIdx.x % 128] = sum[i];
}
#define PRODUCT(name, stages, consumers, late, wrong)                                                                           \
    extern "C" __global__ void __launch_bounds__(128 * (1 + consumers), 1)                                                      \
        name(const __grid_constant__ Map a, const __grid_constant__ Map b, float *out, int tiles) {                             \
        product<stages, consumers, late, wrong>(a, b, out, tiles);                                                              \
    }
PRODUCT(one_stage, 1, 1, false, RIGHT)
PRODUCT(two_stages, 2, 1, false, RIGHT)
PRODUCT(three_stages, 3, 2, false, RIGHT)
PRODUCT(two_late, 2, 1, true, RIGHT)
PRODUCT(four_late, 4, 2, true, RIGHT)
PRODUCT(no_empty, 3, 1, false, NO_EMPTY)
PRODUCT(no_full, 2, 1, false, NO_FULL)
PRODUCT(no_release, 2, 1, false, NO_RELEASE)
PRODUCT(no_products_wait, 2, 1, false, NO_PRODUCTS_WAIT)
PRODUCT(no_fence, 2, 1, false, NO_FENCE)
PRODUCT(parity, 2, 1, false, PARITY)
PRODUCT(no_expect, 2, 1, false, NO_EXPECT)
PRODUCT(early_release, 2, 1, false, EARLY_RELEASE)
PRODUCT(late_early_release, 2, 1, true, EARLY_RELEASE)
PRODUCT(other_stage, 2, 1, false, OTHER_STAGE)
