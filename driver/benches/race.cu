// The kernels of `race.rs`: a product by tiles, a scan, a histogram, a radix sort, and plainer ones behind them.

#define TILE 16
#define BLOCK 256
#define BINS 256
#define DIGITS 16

extern "C" __global__ void product(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// What comes before each of the block's elements, two a thread: up the tree and down again (Blelloch).
extern "C" __global__ void scan(const unsigned *from, unsigned *to, unsigned *sums)
{
    __shared__ unsigned tree[2 * BLOCK];
    int t = threadIdx.x, base = blockIdx.x * 2 * BLOCK;
    tree[2 * t] = from[base + 2 * t];
    tree[2 * t + 1] = from[base + 2 * t + 1];
    int offset = 1;
    for (int half = BLOCK; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) {
        if (sums)
            sums[blockIdx.x] = tree[2 * BLOCK - 1];
        tree[2 * BLOCK - 1] = 0;
    }
    for (int half = 1; half < 2 * BLOCK; half *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < half) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            unsigned old = tree[a];
            tree[a] = tree[b];
            tree[b] += old;
        }
    }
    __syncthreads();
    to[base + 2 * t] = tree[2 * t];
    to[base + 2 * t + 1] = tree[2 * t + 1];
}

extern "C" __global__ void add_sums(unsigned *to, const unsigned *sums)
{
    int base = blockIdx.x * 2 * BLOCK;
    unsigned sum = sums[blockIdx.x];
    to[base + threadIdx.x] += sum;
    to[base + BLOCK + threadIdx.x] += sum;
}

extern "C" __global__ void histogram(const unsigned *from, unsigned *bins, int n)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&own[from[i] & (BINS - 1)], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// One digit of a radix sort: how many of each digit a block has.
extern "C" __global__ void count(const unsigned *keys, unsigned *counts, int shift)
{
    __shared__ unsigned own[DIGITS];
    if (threadIdx.x < DIGITS)
        own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&own[keys[blockIdx.x * BLOCK + threadIdx.x] >> shift & (DIGITS - 1)], 1);
    __syncthreads();
    if (threadIdx.x < DIGITS)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = own[threadIdx.x];
}

// And where each key goes: behind the same digit's of earlier warps, and earlier lanes of its own.
extern "C" __global__ void scatter(const unsigned *keys, unsigned *to, const unsigned *starts, int shift)
{
    __shared__ unsigned before[BLOCK / 32][DIGITS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane < DIGITS)
        before[warp][lane] = 0;
    __syncwarp();
    unsigned key = keys[blockIdx.x * BLOCK + threadIdx.x], digit = key >> shift & (DIGITS - 1);
    unsigned alike = 0xffffffff;
    for (int bit = 0; bit < 4; bit++) {
        unsigned set = __ballot_sync(0xffffffff, digit >> bit & 1);
        alike &= digit >> bit & 1 ? set : ~set;
    }
    unsigned rank = __popc(alike & ((1u << lane) - 1));
    if (rank == 0)
        before[warp][digit] = __popc(alike);
    __syncthreads();
    if (threadIdx.x < DIGITS) {
        unsigned sum = starts[threadIdx.x * gridDim.x + blockIdx.x];
        for (int w = 0; w < BLOCK / 32; w++) {
            unsigned here = before[w][threadIdx.x];
            before[w][threadIdx.x] = sum;
            sum += here;
        }
    }
    __syncthreads();
    to[before[warp][digit] + rank] = key;
}

extern "C" __global__ void saxpy(const float *x, float *y, int n)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        y[i] += 1.5f * x[i];
}

// Five points, from global memory.
extern "C" __global__ void stencil(const float *from, float *to, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y, at = y * n + x;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        to[at] = 0.2f * (from[at] + from[at - 1] + from[at + 1] + from[at - n] + from[at + n]);
}

// The same from tiles, two steps of it in a launch.
extern "C" __global__ void tiles(const float *from, float *to, int n)
{
    __shared__ float here[TILE][TILE], next[TILE][TILE];
    int x = blockIdx.x * (TILE - 4) + threadIdx.x, y = blockIdx.y * (TILE - 4) + threadIdx.y;
    int i = threadIdx.x, j = threadIdx.y;
    bool inside = x < n && y < n;
    here[j][i] = inside ? from[y * n + x] : 0;
    __syncthreads();
    bool first = i > 0 && j > 0 && i < TILE - 1 && j < TILE - 1;
    if (first)
        next[j][i] = 0.2f * (here[j][i] + here[j][i - 1] + here[j][i + 1] + here[j - 1][i] + here[j + 1][i]);
    __syncthreads();
    bool second = i > 1 && j > 1 && i < TILE - 2 && j < TILE - 2;
    if (second && inside)
        to[y * n + x] = 0.2f * (next[j][i] + next[j][i - 1] + next[j][i + 1] + next[j - 1][i] + next[j + 1][i]);
}

extern "C" __global__ void transpose(const float *from, float *to, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = from[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        to[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

// Warps by shuffles, the block by shared memory, the grid by an atomic.
extern "C" __global__ void reduction(const unsigned *from, unsigned *sum, int n)
{
    __shared__ unsigned sums[BLOCK / 32];
    unsigned own = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        own += from[i];
    for (int step = 16; step > 0; step /= 2)
        own += __shfl_down_sync(0xffffffff, own, step);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x < 32) {
        own = threadIdx.x < BLOCK / 32 ? sums[threadIdx.x] : 0;
        for (int step = 16; step > 0; step /= 2)
            own += __shfl_down_sync(0xffffffff, own, step);
        if (threadIdx.x == 0)
            atomicAdd(sum, own);
    }
}

// Eight entries a row, in columns that the keys choose.
extern "C" __global__ void sparse(const unsigned *columns, const float *x, float *y, int n)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
    for (int i = 8 * row; i < 8 * row + 8; i++)
        sum += x[columns[i] % n];
    y[row] = sum;
}

// Bodies of a block's tile after those of another.
extern "C" __global__ void bodies(const float4 *all, float4 *forces, int n)
{
    __shared__ float4 tile[BLOCK];
    float4 own = all[blockIdx.x * BLOCK + threadIdx.x], force = {};
    for (int first = 0; first < n; first += BLOCK) {
        tile[threadIdx.x] = all[first + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < BLOCK; i++) {
            float x = tile[i].x - own.x, y = tile[i].y - own.y, z = tile[i].z - own.z;
            float inverse = rsqrtf(x * x + y * y + z * z + 0.01f), pull = tile[i].w * inverse * inverse * inverse;
            force.x += pull * x, force.y += pull * y, force.z += pull * z;
        }
        __syncthreads();
    }
    forces[blockIdx.x * BLOCK + threadIdx.x] = force;
}
