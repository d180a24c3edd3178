// nvcc: -ptx -lineinfo -arch=compute_90
// What blocks of a cluster do to each other. How large the cluster is, none of these kernels says.

#include <stdint.h>

static __device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
static __device__ uint32_t rank() {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
static __device__ uint32_t in(uint32_t address, uint32_t rank) {
    uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}
static __device__ void come() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
static __device__ void come_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
static __device__ void stay() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
static __device__ void meet() {
    come();
    stay();
}
static __device__ void write(uint32_t to, int value) { asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory"); }
static __device__ int read(uint32_t from) {
    int value;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(from) : "memory");
    return value;
}
static __device__ void init(uint64_t *b, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(count) : "memory");
}
static __device__ void make_inits_visible() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
static __device__ void expect(uint64_t *b, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory");
}
static __device__ void arrive_in(uint32_t b) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(b) : "memory");
}
static __device__ void wait(uint64_t *b, int parity) {
    asm volatile(
        "{\n .reg .pred done;\nAGAIN:\n mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n @done bra DONE;\n bra AGAIN;\nDONE:\n}" ::"r"(
            at(b)),
        "r"(parity)
        : "memory");
}
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(64, 1) name(const int *from, int *out)

// Reads what the next block wrote. LAST: nobody ends before all have read. FIRST: all wait until the others have begun.
template <bool FIRST, bool LAST> static __device__ void neighbours(int *out) {
    __shared__ int data[64];
    uint32_t next = (rank() + 1) % 2;
    if (FIRST) meet();
    write(in(at(&data[threadIdx.x]), next), threadIdx.x);
    meet();
    int sum = read(in(at(&data[63 - threadIdx.x]), next));
    if (LAST) meet();
    out[threadIdx.x] = sum;
}
KERNEL(read_next) { neighbours<true, true>(out); }
KERNEL(ends_early) { neighbours<true, false>(out); }
KERNEL(begins_early) { neighbours<false, true>(out); }

// Reads what this block wrote before a barrier at which it arrived relaxed, with and without a fence.
template <bool FENCE> static __device__ void relaxed(int *out) {
    __shared__ int data[64];
    data[threadIdx.x] = threadIdx.x;
    if (FENCE) asm volatile("fence.acq_rel.cluster;" ::: "memory");
    come_relaxed();
    stay();
    int sum = read(in(at(&data[63 - threadIdx.x]), (rank() + 1) % 2));
    meet();
    out[threadIdx.x] = sum;
}
KERNEL(relaxed_fenced) { relaxed<true>(out); }
KERNEL(relaxed_data) { relaxed<false>(out); }

// Each block gives the next one data and tells it by an mbarrier there. FENCE: the mbarriers are known when others arrive.
template <bool FENCE> static __device__ void told(int *out) {
    __shared__ int data[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        init(&full, 64);
        if (FENCE) make_inits_visible();
    }
    come_relaxed();
    stay();
    uint32_t next = (rank() + 1) % 2;
    write(in(at(&data[threadIdx.x]), next), threadIdx.x);
    arrive_in(in(at(&full), next));
    wait(&full, 0);
    out[threadIdx.x] = data[63 - threadIdx.x];
}
KERNEL(arrives_there) { told<true>(out); }
KERNEL(unknown_there) { told<false>(out); }

// Asynchronous stores into the next block. WAIT: it waits for them.
template <bool WAIT> static __device__ void stores(int *out) {
    __shared__ alignas(8) int data[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        make_inits_visible();
        expect(&full, 256);
    }
    meet();
    uint32_t next = (rank() + 1) % 2;
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(in(at(&data[threadIdx.x]), next)),
                 "r"(threadIdx.x), "r"(in(at(&full), next))
                 : "memory");
    if (WAIT) wait(&full, 0);
    out[threadIdx.x] = data[63 - threadIdx.x];
    meet();
}
KERNEL(stores_there) { stores<true>(out); }
KERNEL(stores_unwaited) { stores<false>(out); }

// A bulk copy from a block's shared memory to the next one's. EARLY: its source changes under way.
template <bool EARLY> static __device__ void copies(int *out) {
    __shared__ alignas(16) int source[64], data[64];
    __shared__ uint64_t full, done;
    if (threadIdx.x == 0) {
        init(&full, 1);
        init(&done, 64);
        make_inits_visible();
        expect(&full, 256);
    }
    source[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    meet();
    uint32_t next = (rank() + 1) % 2;
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(in(at(data), next)),
                     "r"(at(source)), "r"(in(at(&full), next))
                     : "memory");
    wait(&full, 0);
    out[threadIdx.x] = data[63 - threadIdx.x];
    // Whoever got the data says so where it came from.
    arrive_in(in(at(&done), next));
    if (!EARLY) wait(&done, 0);
    source[threadIdx.x] = 0;
    meet();
}
KERNEL(copies_there) { copies<false>(out); }
KERNEL(copies_early) { copies<true>(out); }

// One block loads for both. MASK: which blocks; BYTES: what each of them waits for.
template <int MASK, int BYTES> static __device__ void several(const int *from, int *out) {
    __shared__ alignas(16) int data[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        make_inits_visible();
        expect(&full, BYTES);
    }
    meet();
    if (rank() == 0 && threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(
                         at(data)),
                     "l"(from), "r"(at(&full)), "h"((uint16_t)MASK)
                     : "memory");
    wait(&full, 0);
    out[threadIdx.x] = data[63 - threadIdx.x];
}
KERNEL(loads_for_all) { several<3, 256>(from, out); }
KERNEL(loads_for_one) { several<1, 256>(from, out); }
KERNEL(loads_beyond) { several<7, 256>(from, out); }
