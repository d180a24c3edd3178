// A static dataflow graph on warps, in the manner of Singe (PPoPP '14): every step each warp passes a value to its neighbour through a slot
// of shared memory, with a named barrier for each edge. Barriers are used again by later edges. RIGHT: the same warps use the same barrier,
// and acknowledge on another one that the slot was read. Without acknowledgement, the next arrival may come while the one before still waits.

#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

constexpr int WARPS = 4, STEPS = 12;

template <bool RIGHT>
static __device__ void dataflow(const float *in, float *out) {
    __shared__ float slot[WARPS][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int next = (warp + 1) % WARPS, before = (warp + WARPS - 1) % WARPS;
    float x = in[threadIdx.x];
    for (int step = 0; step < STEPS; step++) {
        slot[warp][lane] = x;
        ARRIVE(warp, 64);  // the edge to the next warp
        SYNC(before, 64);
        x = x * 0.5f + slot[before][31 - lane];
        if (RIGHT) {
            ARRIVE(WARPS + before, 64);  // the slot was read
            SYNC(WARPS + warp, 64);
        }
    }
    out[next * 32 + lane] = x;
}
extern "C" __global__ void __launch_bounds__(WARPS * 32, 1) recycled(const float *in, float *out) { dataflow<true>(in, out); }
extern "C" __global__ void __launch_bounds__(WARPS * 32, 1) recycled_wrong(const float *in, float *out) { dataflow<false>(in, out); }
