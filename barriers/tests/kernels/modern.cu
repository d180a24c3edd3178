// nvcc: -ptx -lineinfo -arch=compute_90a
// What producers and consumers use on compute capability 9.0: tensor copies, elect, setmaxnreg, fences of the asynchronous proxy, copies back to
// global memory, clusters.

#include <stdint.h>

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
static __device__ void wait(uint64_t *b, int parity) {
    asm volatile(
        "{\n .reg .pred p;\nAGAIN:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n @p bra DONE;\n bra AGAIN;\nDONE:\n}" ::"r"(
            shared_address(b)),
        "r"(parity)
        : "memory");
}
static __device__ bool elect() {
    uint32_t yes;
    asm volatile("{\n .reg .pred p;\n elect.sync _|p, 0xffffffff;\n selp.u32 %0, 1, 0, p;\n}" : "=r"(yes));
    return yes;
}

struct alignas(64) Map {
    uint64_t words[16];
};

// Two tensor copies a phase, whose sizes only their maps say; the result goes back by a tensor copy. FENCE: the result is made visible to it.
template <bool FENCE>
static __device__ void tensors(const Map &a, const Map &b, const Map &c) {
    __shared__ alignas(128) float tile_a[2][256], tile_b[2][128], result[256];
    __shared__ alignas(8) uint64_t full[2], empty[2];
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; s++) {
            init(&full[s], 1);
            init(&empty[s], 256);
        }
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
    }
    __syncthreads();
    if (warp == 8) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (elect()) {
            for (int step = 0; step < 6; step++) {
                int s = step & 1, round = step >> 1;
                if (round > 0) wait(&empty[s], (round - 1) & 1);
                expect(&full[s], 256 * 4 + 128 * 4);
                asm volatile(
                    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                        shared_address(tile_a[s])),
                    "l"(&a), "r"(step), "r"(0), "r"(shared_address(&full[s]))
                    : "memory");
                asm volatile(
                    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                        shared_address(tile_b[s])),
                    "l"(&b), "r"(0), "r"(step), "r"(shared_address(&full[s]))
                    : "memory");
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        float sum = 0;
        for (int step = 0; step < 6; step++) {
            int s = step & 1, round = step >> 1;
            wait(&full[s], round & 1);
            sum += tile_a[s][threadIdx.x] * tile_b[s][threadIdx.x / 2];
            arrive(&empty[s]);
        }
        result[threadIdx.x] = sum;
        if (FENCE) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync 1, 256;" ::: "memory");
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(&c),
                         "r"(0), "r"(shared_address(result))
                         : "memory");
        }
    }
}
extern "C" __global__ void __launch_bounds__(288, 1)
    tensor(const __grid_constant__ Map a, const __grid_constant__ Map b, const __grid_constant__ Map c) {
    tensors<true>(a, b, c);
}
extern "C" __global__ void __launch_bounds__(288, 1)
    tensor_without_fence(const __grid_constant__ Map a, const __grid_constant__ Map b, const __grid_constant__ Map c) {
    tensors<false>(a, b, c);
}

// Each CTA of a cluster writes into the next one's shared memory. WAIT: before it is read.
template <bool WAIT>
static __device__ void neighbours(int *out) {
    __shared__ int inbox[32];
    uint32_t rank, there;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(&inbox[threadIdx.x])), "r"((rank + 1) % 2));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(rank * 100 + threadIdx.x) : "memory");
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    if (WAIT) asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    out[threadIdx.x] = inbox[31 - threadIdx.x];
    if (!WAIT) asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32, 1) cluster(int *out) { neighbours<true>(out); }
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32, 1) cluster_wrong(int *out) { neighbours<false>(out); }
