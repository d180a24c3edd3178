// The kernels of `race.rs`: a product by tiles, a scan, a histogram, a radix sort.

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
