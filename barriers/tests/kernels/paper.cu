// Listings 1 to 3 and Figure 2 of "Verification of Producer-Consumer Synchronization in GPU Programs" (PLDI 2015), as kernels of their
// own making; where the paper leaves something out, the smallest thing that fits.

#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"n"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"n"(id), "n"(threads) : "memory")

// Listing 1: each warp waits for what the other does later.
extern "C" __global__ void __launch_bounds__(64, 1) listing1() {
    int warp = threadIdx.x / 32;
    if (warp == 0) {
        SYNC(0, 64);
        ARRIVE(1, 64);
    } else {
        SYNC(1, 64);
        ARRIVE(0, 64);
    }
}

// Listing 2: barrier 1 twice, there and back, with barrier 0 between.
extern "C" __global__ void __launch_bounds__(64, 1) listing2(float *out, float w, float z) {
    __shared__ float g[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float x = 0, y = 0;
    SYNC(0, 64);
    if (warp == 0) {
        g[lane] = w;
        ARRIVE(1, 64);
    } else {
        SYNC(1, 64);
        x = g[lane];
    }
    SYNC(0, 64);
    if (warp == 0) {
        SYNC(1, 64);
        y = g[lane];
    } else {
        g[lane] = z;
        ARRIVE(1, 64);
    }
    out[threadIdx.x] = x + y;
}

// Listing 3: compute warps and copying warps. In the paper's kernel the next transfer starts before the last read of the buffer.
template <bool EARLY>
static __device__ void two_phase(const float2 *in, float2 *out) {
    const int COMPUTE = 64, RADIUS = 4, STEPS = 8;
    __shared__ float2 pq[COMPUTE + 2 * RADIUS];
    int tid = threadIdx.x;
    if (tid < COMPUTE) {
        float2 sum = make_float2(0, 0);
        ARRIVE(0, 96);
        for (int z = 0; z < STEPS; z++) {
            SYNC(1, 96);
            sum.x += pq[tid + RADIUS].x;
            if (EARLY) ARRIVE(0, 96);
            for (int j = 1; j < RADIUS; j++) {
                float2 v1 = pq[tid + RADIUS - j], v2 = pq[tid + RADIUS + j];
                sum.x += j * (v1.x + v2.x);
                sum.y += j * (v1.y + v2.y);
            }
            if (!EARLY) ARRIVE(0, 96);
        }
        out[tid] = sum;
    } else {
        int lane = tid - COMPUTE;
        for (int z = 0; z < STEPS; z++) {
            SYNC(0, 96);
            for (int i = lane; i < COMPUTE + 2 * RADIUS; i += 32) pq[i] = in[z * 128 + i];
            ARRIVE(1, 96);
        }
        SYNC(0, 96);
    }
}
extern "C" __global__ void __launch_bounds__(96, 1) listing3(const float2 *in, float2 *out) { two_phase<true>(in, out); }
extern "C" __global__ void __launch_bounds__(96, 1) listing3_right(const float2 *in, float2 *out) { two_phase<false>(in, out); }

// Figure 2: operations A to I of four warps; barrier 2 is used again. Warps 1 and 2, which take part in its second generation, know from
// barriers 1 and 3 that the first is over. Without the edge from E to F, warp 1 does not.
template <bool EDGE>
static __device__ void figure2_body(float *out, const float *in) {
    __shared__ float ab[32], ad[32], de[32], ef[32], gi[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float x = in[threadIdx.x];
    if (warp == 0) {
        ad[lane] = x;  // A
        ab[lane] = x + 1;
        ARRIVE(2, 64);
        ARRIVE(0, 64);
    } else if (warp == 1) {
        SYNC(0, 64);
        x += ab[lane];  // B
        if (EDGE) {
            SYNC(3, 64);
            x += ef[lane];  // F
        }
        SYNC(2, 64);
        out[lane] = x + gi[lane];  // I
    } else if (warp == 2) {
        SYNC(1, 64);
        x += de[lane];  // E
        if (EDGE) {
            ef[lane] = x;
            ARRIVE(3, 64);
        }
        gi[lane] = x * 2;  // G
        ARRIVE(2, 64);
    } else {
        SYNC(2, 64);
        de[lane] = x + ad[lane];  // D
        ARRIVE(1, 64);
    }
}
extern "C" __global__ void __launch_bounds__(128, 1) figure2(float *out, const float *in) { figure2_body<true>(out, in); }
extern "C" __global__ void __launch_bounds__(128, 1) figure2_wrong(float *out, const float *in) { figure2_body<false>(out, in); }
