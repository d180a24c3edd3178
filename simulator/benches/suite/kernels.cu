// nvcc: -ptx -lineinfo -arch=compute_80
// What programs do, a kernel each, for the table of the suite. All have the same parameters: two arrays of a million
// floats, one for the result, how many elements there are, and how many rounds.
#include <cuda_fp16.h>
#include <mma.h>
#define KERNEL extern "C" __global__ void __launch_bounds__(256)
#define PARAMETERS const float *a, const float *b, float *out, unsigned n, unsigned rounds

KERNEL dot(PARAMETERS)
{
    __shared__ float cache[256];
    float sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
    cache[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
        if (threadIdx.x < half) cache[threadIdx.x] += cache[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, cache[0]);
}

KERNEL fma_chain(PARAMETERS)
{
    float x = threadIdx.x, y = 0.5f;
    for (unsigned i = 0; i < rounds; i++) x = fmaf(x, y, 1.0f);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

KERNEL copy(PARAMETERS)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i];
}

KERNEL saxpy(PARAMETERS)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * a[i] + b[i];
}

KERNEL copy_vec4(PARAMETERS)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) reinterpret_cast<float4 *>(out)[i] = reinterpret_cast<const float4 *>(a)[i];
}

// n is the width of the matrices; blocks of 16 x 16 threads.
KERNEL tiled(PARAMETERS)
{
    __shared__ float x[16][16], y[16][16];
    unsigned tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    unsigned row = blockIdx.x / (n / 16) * 16 + ty, column = blockIdx.x % (n / 16) * 16 + tx;
    float sum = 0;
    for (unsigned k = 0; k < n; k += 16) {
        x[ty][tx] = a[row * n + k + tx];
        y[ty][tx] = b[(k + ty) * n + column];
        __syncthreads();
        for (unsigned i = 0; i < 16; i++) sum += x[ty][i] * y[i][tx];
        __syncthreads();
    }
    out[row * n + column] = sum;
}

// Each thread has 4 x 4 results of a tile of 64 x 64.
KERNEL blocked(PARAMETERS)
{
    __shared__ float x[8][64], y[8][64];
    unsigned tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    unsigned top = blockIdx.x / (n / 64) * 64, left = blockIdx.x % (n / 64) * 64;
    float sum[4][4] = {};
    for (unsigned k = 0; k < n; k += 8) {
        for (unsigned e = threadIdx.x; e < 512; e += 256) {
            x[e % 8][e / 8] = a[(top + e / 8) * n + k + e % 8];
            y[e / 64][e % 64] = b[(k + e / 64) * n + left + e % 64];
        }
        __syncthreads();
        for (unsigned i = 0; i < 8; i++) {
            float u[4], v[4];
            for (unsigned r = 0; r < 4; r++) u[r] = x[i][ty + 16 * r], v[r] = y[i][tx + 16 * r];
            for (unsigned r = 0; r < 4; r++)
                for (unsigned c = 0; c < 4; c++) sum[r][c] += u[r] * v[c];
        }
        __syncthreads();
    }
    for (unsigned r = 0; r < 4; r++)
        for (unsigned c = 0; c < 4; c++) out[(top + ty + 16 * r) * n + left + tx + 16 * c] = sum[r][c];
}

// Each block sorts 256 keys by eight of their bits, two at a time.
KERNEL radix(PARAMETERS)
{
    __shared__ unsigned keys[256], counts[4][256];
    unsigned t = threadIdx.x;
    keys[t] = (unsigned(a[blockIdx.x * 256 + t]) * 2654435761u + t * 40503u) >> 20;
    for (unsigned shift = 0; shift < 8; shift += 2) {
        __syncthreads();
        unsigned key = keys[t], digit = key >> shift & 3;
        for (unsigned d = 0; d < 4; d++) counts[d][t] = d == digit;
        __syncthreads();
        for (unsigned step = 1; step < 256; step *= 2) {
            unsigned add[4];
            for (unsigned d = 0; d < 4; d++) add[d] = t >= step ? counts[d][t - step] : 0;
            __syncthreads();
            for (unsigned d = 0; d < 4; d++) counts[d][t] += add[d];
            __syncthreads();
        }
        unsigned before = counts[digit][t] - 1;
        for (unsigned d = 0; d < digit; d++) before += counts[d][255];
        __syncthreads();
        keys[before] = key;
    }
    __syncthreads();
    out[blockIdx.x * 256 + t] = float(keys[t] & 255);
}

KERNEL scan(PARAMETERS)
{
    __shared__ float warps[8];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float x = a[i];
    for (unsigned step = 1; step < 32; step *= 2) {
        float left = __shfl_up_sync(0xffffffff, x, step);
        if (lane >= step) x += left;
    }
    if (lane == 31) warps[warp] = x;
    __syncthreads();
    for (unsigned w = 0; w < warp; w++) x += warps[w];
    out[i] = x;
}

KERNEL histogram(PARAMETERS)
{
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[(i * 2654435761u >> 8 ^ unsigned(a[i])) & 255], 1);
    __syncthreads();
    atomicAdd(reinterpret_cast<unsigned *>(out) + threadIdx.x, bins[threadIdx.x]);
}

KERNEL bitonic(PARAMETERS)
{
    __shared__ float s[512];
    unsigned base = blockIdx.x * 512, t = threadIdx.x;
    for (unsigned i = t; i < 512; i += 256) s[i] = a[base + (i * 37 & 511)];
    __syncthreads();
    for (unsigned size = 2; size <= 512; size *= 2)
        for (unsigned stride = size / 2; stride != 0; stride /= 2) {
            unsigned low = 2 * t - (t & (stride - 1)), high = low + stride;
            bool up = (low & size) == 0;
            float x = s[low], y = s[high];
            if ((x > y) == up) s[low] = y, s[high] = x;
            __syncthreads();
        }
    for (unsigned i = t; i < 512; i += 256) out[base + i] = s[i];
}

// Rows of 16 entries, whose columns are scattered.
KERNEL spmv(PARAMETERS)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (unsigned j = 0; j < 16; j++) sum += a[row * 16 + j] * b[(row * 7 + j * 40503) & (n - 1)];
    out[row] = sum;
}

KERNEL nbody(PARAMETERS)
{
    __shared__ float4 bodies[256];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], y = b[i], z = a[i + n], fx = 0, fy = 0, fz = 0;
    for (unsigned tile = 0; tile < n; tile += 256) {
        unsigned j = tile + threadIdx.x;
        bodies[threadIdx.x] = make_float4(a[j], b[j], a[j + n], 1.0f);
        __syncthreads();
        for (unsigned k = 0; k < 256; k++) {
            float4 o = bodies[k];
            float dx = o.x - x, dy = o.y - y, dz = o.z - z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = o.w * r * r * r;
            fx += f * dx, fy += f * dy, fz += f * dz;
        }
        __syncthreads();
    }
    out[i * 3] = fx, out[i * 3 + 1] = fy, out[i * 3 + 2] = fz;
}

KERNEL mandelbrot(PARAMETERS)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float cx = (i % 256) / 128.0f - 1.5f, cy = i / 256 % 256 / 128.0f - 1.0f, x = 0, y = 0;
    unsigned k = 0;
    for (; k < rounds && x * x + y * y < 4.0f; k++) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy, x = t;
    }
    out[i] = k;
}

__device__ unsigned turn(unsigned x, unsigned by) { return x >> by | x << (32 - by); }

// The rounds of SHA-256 with a schedule of its own.
KERNEL sha(PARAMETERS)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, s[8], w[16];
    for (unsigned k = 0; k < 8; k++) s[k] = 0x6a09e667u * (k + 1);
    for (unsigned k = 0; k < 16; k++) w[k] = i * 2654435761u + k;
    for (unsigned round = 0; round < rounds; round += 16) {
#pragma unroll
        for (unsigned k = 0; k < 16; k++) {
            unsigned e = s[4], c = s[0];
            unsigned t = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + w[k] + 0x428a2f98u;
            unsigned u = (turn(c, 2) ^ turn(c, 13) ^ turn(c, 22)) + ((c & s[1]) ^ (c & s[2]) ^ (s[1] & s[2]));
            unsigned p = w[(k + 1) % 16], q = w[(k + 14) % 16];
            w[k] += (turn(p, 7) ^ turn(p, 18) ^ p >> 3) + w[(k + 9) % 16] + (turn(q, 17) ^ turn(q, 19) ^ q >> 10);
            s[7] = s[6], s[6] = s[5], s[5] = e, s[4] = s[3] + t, s[3] = s[2], s[2] = s[1], s[1] = c, s[0] = t + u;
        }
    }
    out[i] = __uint_as_float((s[0] ^ s[4]) & 0x3fffffff);
}

KERNEL half2_chain(PARAMETERS)
{
    __half2 x = __float2half2_rn(float(threadIdx.x)), y = __float2half2_rn(0.5f), z = __float2half2_rn(1.0f);
    for (unsigned i = 0; i < rounds; i++) x = __hfma2(x, y, z);
    out[blockIdx.x * blockDim.x + threadIdx.x] = __low2float(x);
}

KERNEL mma(PARAMETERS)
{
    unsigned x = 0x3c003800, y = 0x34003c00;
    float d[4] = {};
    for (unsigned i = 0; i < rounds; i++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%4,%5}, {%4,%5}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(x), "r"(y));
    out[blockIdx.x * blockDim.x + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

// A warp multiplies two tiles of shared memory with each turn.
KERNEL wmma_tiles(PARAMETERS)
{
    using namespace nvcuda::wmma;
    __shared__ __half x[256], y[256];
    x[threadIdx.x] = __float2half(threadIdx.x % 7), y[threadIdx.x] = __float2half(threadIdx.x % 5);
    __syncthreads();
    fragment<matrix_a, 16, 16, 16, half, row_major> u;
    fragment<matrix_b, 16, 16, 16, half, row_major> v;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (unsigned i = 0; i < rounds; i++) {
        load_matrix_sync(u, x, 16);
        load_matrix_sync(v, y, 16);
        mma_sync(sum, u, v, sum);
    }
    store_matrix_sync(out + (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 256, sum, 16, mem_row_major);
}

KERNEL ldmatrix(PARAMETERS)
{
    __shared__ alignas(16) unsigned tile[8][128];
    for (unsigned i = threadIdx.x; i < 1024; i += 256) tile[i / 128][i % 128] = i;
    __syncthreads();
    unsigned sum = 0, at = __cvta_generic_to_shared(&tile[threadIdx.x / 32][threadIdx.x % 32 * 4]);
    for (unsigned i = 0; i < rounds; i++) {
        unsigned r[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
        sum += r[0] ^ r[1] ^ r[2] ^ r[3];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = float(sum & 0xffff);
}

KERNEL async_copy(PARAMETERS)
{
    __shared__ float4 tile[2][256];
    const float4 *from = reinterpret_cast<const float4 *>(a);
    unsigned t = threadIdx.x;
    float sum = 0;
    auto fetch = [&](unsigned i) {
        unsigned to = __cvta_generic_to_shared(&tile[i % 2][t]);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.commit_group;"
                     ::"r"(to), "l"(from + (i * 8 + blockIdx.x) % 1024 * 256 + t) : "memory");
    };
    fetch(0);
    for (unsigned i = 0; i < rounds; i++) {
        fetch(i + 1);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        float4 x = tile[i % 2][t ^ 1];
        sum += x.x + x.y + x.z + x.w;
        __syncthreads();
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    out[blockIdx.x * blockDim.x + t] = sum;
}

// One thread of each warp takes the lock.
KERNEL spin_lock(PARAMETERS)
{
    int *lock = reinterpret_cast<int *>(out), *count = lock + 64;
    if (threadIdx.x % 32 != 0) return;
    for (unsigned i = 0; i < rounds; i++) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *(volatile int *)count = *(volatile int *)count + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

KERNEL divergence(PARAMETERS)
{
    unsigned x = threadIdx.x * 2654435761u, sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        if (x & 1) {
            sum += x >> 3;
            if (x & 8) sum ^= 0x55; else sum += 7;
        } else {
            sum -= x >> 5;
            for (unsigned k = 0; k < (x >> 4 & 3); k++) sum += k * x;
        }
        x = x * 1664525u + 1013904223u;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = float(sum & 0xffff);
}

KERNEL barriers(PARAMETERS)
{
    __shared__ float s[256];
    float x = threadIdx.x;
    for (unsigned i = 0; i < rounds; i++) {
        s[threadIdx.x] = x;
        __syncthreads();
        x += s[threadIdx.x + 1 & 255];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

KERNEL volatile_accesses(PARAMETERS)
{
    volatile float *mine = out + blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned i = 0; i < rounds; i++) *mine = *mine + 1.0f;
}

// Lanes of a warp store to the same bank, at another place with every turn.
KERNEL conflicts(PARAMETERS)
{
    __shared__ float s[256 * 33];
    float sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        unsigned at = threadIdx.x * 32 + (i & 31);
        s[at] = float(i);
        sum += s[at ^ 1];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
