// mma.sync with fragments as the ISA lays them out, against sums of products; ldmatrix, stmatrix, movmatrix.
// nvcc: -ptx -lineinfo -arch=compute_90
//! buffer out u32 16
//! launch halves 1 32 : out
//! launch integers 1 32 : out
//! launch bits 1 32 : out
//! launch doubles 1 32 : out
//! launch moves 1 32 : out
//! expect out = 0@8 1@5
#include <cuda_fp16.h>
__device__ int small(int i, int j) { return (i * 7 + j * 3) % 5 - 2; }

// D = A × B + 1 for m16n8k16: A by ldmatrix, B by ldmatrix.trans of a row-major matrix.
extern "C" __global__ void halves(unsigned *out)
{
    __shared__ alignas(16) __half a[16][16], b[16][8];
    int lane = threadIdx.x;
    for (int e = lane; e < 256; e += 32)
        a[e / 16][e % 16] = __half(small(e / 16, e % 16));
    for (int e = lane; e < 128; e += 32)
        b[e / 8][e % 8] = __half(small(e % 8, e / 8 + 1));
    __syncwarp();
    unsigned ra[4], rb[2];
    unsigned pa = __cvta_generic_to_shared(&a[lane % 16][lane / 16 * 8]);
    unsigned pb = __cvta_generic_to_shared(&b[lane % 16][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
    float d[4];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "f"(1.0f));
    for (int e = 0; e < 4; e++) {
        int i = lane / 4 + e / 2 * 8, j = lane % 4 * 2 + e % 2, sum = 1;
        for (int k = 0; k < 16; k++)
            sum += small(i, k) * small(j, k + 1);
        atomicAdd(out, d[e] != float(sum));
    }
    if (lane == 0)
        out[8] = 1;
}

// m16n8k32 of bytes, A signed and B unsigned.
extern "C" __global__ void integers(unsigned *out)
{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    unsigned a[4] = {}, b[2] = {};
    for (int r = 0; r < 4; r++)
        for (int e = 0; e < 4; e++)
            a[r] |= (small(g + r % 2 * 8, t * 4 + e + r / 2 * 16) & 0xff) << 8 * e;
    for (int r = 0; r < 2; r++)
        for (int e = 0; e < 4; e++)
            b[r] |= ((g * 5 + t * 4 + e + r * 16) % 200 + 50) << 8 * e;
    int d[4];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(-3));
    for (int e = 0; e < 4; e++) {
        int i = g + e / 2 * 8, j = t * 2 + e % 2, sum = -3;
        for (int k = 0; k < 32; k++)
            sum += small(i, k) * ((j * 5 + k) % 200 + 50);
        atomicAdd(out + 1, d[e] != sum);
    }
    if (lane == 0)
        out[9] = 1;
}

// m16n8k256 of bits.
extern "C" __global__ void bits(unsigned *out)
{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    auto word = [](int line, int at) { return (line * 8 + at + 1) * 0x9e3779b9u; };
    unsigned a[4], b[2];
    for (int r = 0; r < 4; r++)
        a[r] = word(g + r % 2 * 8, t + r / 2 * 4);
    for (int r = 0; r < 2; r++)
        b[r] = word(g + 100, t + r * 4);
    int d[4];
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(5));
    for (int e = 0; e < 4; e++) {
        int sum = 5;
        for (int k = 0; k < 8; k++)
            sum += __popc(word(g + e / 2 * 8, k) & word(t * 2 + e % 2 + 100, k));
        atomicAdd(out + 2, d[e] != sum);
    }
    if (lane == 0)
        out[10] = 1;
}

// m16n8k8 of doubles.
extern "C" __global__ void doubles(unsigned *out)
{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    double a[4], b[2], d[4];
    for (int r = 0; r < 4; r++)
        a[r] = small(g + r % 2 * 8, t + r / 2 * 4);
    for (int r = 0; r < 2; r++)
        b[r] = small(g, t + r * 4 + 1);
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                 : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "d"(0.5));
    for (int e = 0; e < 4; e++) {
        double sum = 0.5;
        for (int k = 0; k < 8; k++)
            sum += small(g + e / 2 * 8, k) * small(t * 2 + e % 2, k + 1);
        atomicAdd(out + 3, d[e] != sum);
    }
    if (lane == 0)
        out[11] = 1;
}

// A matrix stored, loaded transposed, and transposed back.
extern "C" __global__ void moves(unsigned *out)
{
    __shared__ alignas(16) unsigned short m[8][8];
    int lane = threadIdx.x;
    unsigned value = lane * 2 | (lane * 2 + 1) << 16, transposed, back;
    unsigned p = __cvta_generic_to_shared(m[lane % 8]);
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(p), "r"(value) : "memory");
    __syncwarp();
    atomicAdd(out + 4, m[lane / 4][lane % 4 * 2] != lane * 2);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(transposed) : "r"(p) : "memory");
    atomicAdd(out + 5, (transposed & 0xffff) != m[lane % 4 * 2][lane / 4]);
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(back) : "r"(transposed));
    atomicAdd(out + 6, back != value);
    if (lane == 0)
        out[12] = 1;
}
