// mma.m8n8k4 of halves: four multiplications by eight lanes each, in every layout and with either accumulator.
//! buffer out u32 12
//! launch quads 1 32 : out
//! expect out = 0 0 0 0 0 0 1 1 1 1 1 1
#include <cuda_fp16.h>

// Small numbers whose products and sums are exact; each of the four multiplications has its own.
__device__ int a_at(int quad, int row, int k) { return (row * 5 + k * 3 + quad) % 7 - 3; }
__device__ int b_at(int quad, int k, int column) { return (k * 2 + column * 3 + quad * 5) % 5 - 2; }
__device__ int c_at(int row, int column) { return row * 8 + column; }
__device__ int d_at(int quad, int row, int column) {
    int sum = c_at(row, column);
    for (int k = 0; k < 4; k++) sum += a_at(quad, row, k) * b_at(quad, k, column);
    return sum;
}
__device__ unsigned pair(int low, int high) {
    return __half_as_ushort(__int2half_rn(low)) | unsigned(__half_as_ushort(__int2half_rn(high))) << 16;
}
__device__ int half_of(unsigned word, int i) { return __half2int_rn(__ushort_as_half(word >> 16 * i)); }

#define INPUTS(ROW_A, ROW_B)                                                                                     \
    unsigned a[2], b[2];                                                                                         \
    for (int r = 0; r < 2; r++) {                                                                                \
        auto x = [&](int i) { return ROW_A ? a_at(quad, line + rest, i) : a_at(quad, i + rest, line); };         \
        auto y = [&](int i) { return ROW_B ? b_at(quad, line, i + rest) : b_at(quad, i, line + rest); };         \
        a[r] = pair(x(2 * r), x(2 * r + 1));                                                                     \
        b[r] = pair(y(2 * r), y(2 * r + 1));                                                                     \
    }
#define SINGLES(NUMBER, LAYOUT, ROW_A, ROW_B)                                                                    \
    {                                                                                                            \
        INPUTS(ROW_A, ROW_B)                                                                                     \
        float d[8];                                                                                              \
        for (int i = 0; i < 8; i++) d[i] = c_at((lane & 1) + (i & 2) + rest, (i & 4) + (lane & 2) + (i & 1));    \
        asm volatile("mma.sync.aligned.m8n8k4." LAYOUT ".f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, "   \
                     "{%10,%11}, {%0,%1,%2,%3,%4,%5,%6,%7};"                                                     \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),       \
                       "+f"(d[7])                                                                                \
                     : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));                                              \
        for (int i = 0; i < 8; i++) {                                                                            \
            float sum = d_at(quad, (lane & 1) + (i & 2) + rest, (i & 4) + (lane & 2) + (i & 1));                 \
            if (d[i] != sum) atomicAdd(out + NUMBER, 1);                                                         \
        }                                                                                                        \
        if (lane == 0) out[NUMBER + 6] = 1;                                                                      \
    }
#define HALVES(NUMBER, LAYOUT, ROW_A, ROW_B)                                                                     \
    {                                                                                                            \
        INPUTS(ROW_A, ROW_B)                                                                                     \
        unsigned d[4];                                                                                           \
        for (int r = 0; r < 4; r++) d[r] = pair(c_at(line + rest, 2 * r), c_at(line + rest, 2 * r + 1));         \
        asm volatile("mma.sync.aligned.m8n8k4." LAYOUT ".f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, "      \
                     "{%0,%1,%2,%3};"                                                                            \
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                            \
                     : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));                                              \
        for (int i = 0; i < 8; i++)                                                                              \
            if (half_of(d[i / 2], i % 2) != d_at(quad, line + rest, i)) atomicAdd(out + NUMBER, 1);              \
        if (lane == 0) out[NUMBER + 6] = 1;                                                                      \
    }

extern "C" __global__ void quads(unsigned *out) {
    int lane = threadIdx.x, quad = lane / 4 % 4, line = lane % 4, rest = lane / 16 * 4;
    SINGLES(0, "row.col", true, false)
    SINGLES(1, "row.row", true, true)
    SINGLES(2, "col.col", false, false)
    SINGLES(3, "col.row", false, true)
    HALVES(4, "row.col", true, false)
    HALVES(5, "col.row", false, true)
}
