// Kernels whose inputs nobody gives: copying warps with a loop around unknown data, warps with work of their own and tables, a stencil.
// Each comes right, and with one error.

#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"n"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"n"(id), "n"(threads) : "memory")

// CudaDMA: four warps compute, one copies rows whose lengths it loads, in parts that depend on the row; two buffers.
// EARLY: the computing warps say that a buffer is empty before they have read all of it.
template <bool EARLY>
static __device__ void copying(const float *in, const int *lengths, float *out, int n, float limit) {
    constexpr int COMPUTE = 128, ALL = 160, STEPS = 8;
    __shared__ float buffer[2][COMPUTE];
    int tid = threadIdx.x;
    if (tid < COMPUTE) {
        float sum = 0;
        ARRIVE(1, ALL);
        ARRIVE(2, ALL);
#pragma unroll
        for (int step = 0; step < STEPS; step += 2) {
            SYNC(3, ALL);
            float mine = buffer[0][tid];
            if (EARLY && step + 2 < STEPS) ARRIVE(1, ALL);
            float other = buffer[0][COMPUTE - 1 - tid];
            if (!EARLY && step + 2 < STEPS) ARRIVE(1, ALL);
            // What it does with a value depends on the value.
            if (mine > limit)
                sum += logf(mine) / other;
            else
                for (int i = 0; i < n; i++) sum += __expf(other * i);
            SYNC(4, ALL);
            sum += buffer[1][tid] - buffer[1][COMPUTE - 1 - tid];
            if (step + 2 < STEPS) ARRIVE(2, ALL);
        }
        if (blockIdx.x * COMPUTE + tid < n) out[blockIdx.x * COMPUTE + tid] = sum;
    } else {
        int lane = tid - COMPUTE;
        for (int step = 0; step < STEPS; step++) {
            int length = lengths[step];
            if (step % 2 == 0) SYNC(1, ALL);
            else SYNC(2, ALL);
            for (int i = lane; i < COMPUTE; i += 32) buffer[step % 2][i] = i < length ? in[step * n + i] : 0;
            if (step % 2 == 0) ARRIVE(3, ALL);
            else ARRIVE(4, ALL);
        }
    }
}

extern "C" __global__ void __launch_bounds__(160, 1)
    copies(const float *in, const int *lengths, float *out, int n, float limit) {
    copying<false>(in, lengths, out, n, limit);
}
extern "C" __global__ void __launch_bounds__(160, 1)
    copies_early(const float *in, const int *lengths, float *out, int n, float limit) {
    copying<true>(in, lengths, out, n, limit);
}

// Singe: each warp has the reactions of its own row of a table; the species that they share go through shared memory, where the table says.
static __device__ const int slots[4][4] = {{0, 5, 10, 15}, {4, 9, 14, 3}, {8, 13, 2, 7}, {12, 1, 6, 11}};
static __device__ const int shared_slot[4][4] = {{0, 5, 10, 15}, {4, 9, 14, 3}, {8, 13, 2, 7}, {12, 1, 5, 11}};

// TWICE: two warps write the same slot.
template <bool TWICE>
static __device__ void chemistry(const float *temperature, const float *pressure, float *out, int points) {
    __shared__ float rates[16][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int point = blockIdx.x * 32 + lane;
    float t = point < points ? temperature[point] : 300.0f, p = point < points ? pressure[point] : 1.0f;
    float inverse = 1.0f / t, logarithm = logf(t);
    if (t < 0) logarithm = 0;
    for (int i = 0; i < 4; i++) {
        float rate = expf(logarithm * i - inverse * 3.5f) / (p + 1.0f);
        // Another law for high pressures.
        if (rate > 1e3f) rate = powf(rate, 0.25f) + sqrtf(t);
        rates[TWICE ? shared_slot[warp][i] : slots[warp][i]][lane] = rate;
    }
    if (warp < 2) ARRIVE(1, 128);
    else SYNC(1, 128);
    if (warp < 2) {
        SYNC(2, 128);
    } else {
        float sum = 0;
        for (int i = 0; i < 16; i++) sum += rates[i][lane];
        if (sum < 0) sum = -sum;
        ARRIVE(2, 128);
        if (point < points) out[(warp - 2) * points + point] = logf(sum);
    }
}

extern "C" __global__ void __launch_bounds__(128, 1)
    reactions(const float *temperature, const float *pressure, float *out, int points) {
    chemistry<false>(temperature, pressure, out, points);
}
extern "C" __global__ void __launch_bounds__(128, 1)
    reactions_twice(const float *temperature, const float *pressure, float *out, int points) {
    chemistry<true>(temperature, pressure, out, points);
}

// RTM: a stencil that marches through planes; the block's tile with its halo in shared memory. UNGUARDED: nothing keeps the next plane from being
// written while this one is read.
template <bool UNGUARDED>
static __device__ void stencil(const float *in, const float *velocity, float *out, int nx, int ny) {
    constexpr int R = 2, X = 32, Y = 4, PLANES = 6;
    __shared__ float tile[Y + 2 * R][X + 2 * R];
    int x = threadIdx.x % X, y = threadIdx.x / X;
    int gx = blockIdx.x * X + x, gy = blockIdx.y * Y + y;
    bool inside = gx < nx && gy < ny;
    for (int z = 0; z < PLANES; z++) {
        size_t at = (size_t)z * nx * ny + (size_t)gy * nx + gx;
        tile[y + R][x + R] = inside ? in[at] : 0;
        if (y < R) {
            tile[y][x + R] = gy >= R ? in[at - R * nx] : 0;
            tile[y + Y + R][x + R] = gy + Y < ny ? in[at + Y * nx] : 0;
        }
        if (x < R) {
            tile[y + R][x] = gx >= R ? in[at - R] : 0;
            tile[y + R][x + X + R] = gx + X < nx ? in[at + X] : 0;
        }
        __syncthreads();
        float sum = 0;
        for (int r = 1; r <= R; r++)
            sum += tile[y + R - r][x + R] + tile[y + R + r][x + R] + tile[y + R][x + R - r] + tile[y + R][x + R + r];
        float v = inside ? velocity[at] : 0;
        if (v < 0) v = sinf(v);
        if (!UNGUARDED) __syncthreads();
        if (inside) out[at] = sum * v;
    }
}

extern "C" __global__ void __launch_bounds__(128, 1)
    marching(const float *in, const float *velocity, float *out, int nx, int ny) {
    stencil<false>(in, velocity, out, nx, ny);
}
extern "C" __global__ void __launch_bounds__(128, 1)
    marching_unguarded(const float *in, const float *velocity, float *out, int nx, int ny) {
    stencil<true>(in, velocity, out, nx, ny);
}
