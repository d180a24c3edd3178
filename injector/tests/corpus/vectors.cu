// Vector loads and stores of every shape that nvcc makes, and those that it does not.

struct __align__(8) Bytes8 { unsigned char b[8]; };

extern "C" __global__ void copies(float4 *f4, const float4 *g4, double2 *d2, uint2 *u2, uchar4 *c4, short4 *s4,
                                  ulonglong2 *l2, float2 *f2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = g4[i];
    f4[i] = make_float4(a.w, a.z, a.y, a.x);
    double2 d = d2[i];
    d2[i] = make_double2(d.y, d.x);
    uint2 u = u2[i];
    u2[i] = make_uint2(u.y + 1, u.x + 1);
    uchar4 c = c4[i];
    c4[i] = make_uchar4(c.w, c.z, c.y, c.x);
    short4 s = s4[i];
    s4[i] = make_short4(s.y, s.x, s.w, s.z);
    ulonglong2 l = l2[i];
    l2[i] = make_ulonglong2(l.y, l.x ^ l.y);
    float4 again = f4[i];
    f2[i] = make_float2(again.x + again.y, again.z * again.w);
}

extern "C" __global__ void in_shared(float4 *out) {
    __shared__ float4 tile[64];
    __shared__ ushort2 pairs[64];
    tile[threadIdx.x] = make_float4(threadIdx.x, 1, 2, 3);
    pairs[threadIdx.x] = make_ushort2(threadIdx.x, 7);
    float4 own = tile[threadIdx.x];
    __syncthreads();
    float4 other = tile[63 - threadIdx.x];
    ushort2 pair = pairs[63 - threadIdx.x];
    out[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(own.x, other.x, pair.x, pair.y);
}

// The destination holds the address, one element is not wanted, and elements sit in wider registers.
extern "C" __global__ void odd(unsigned long long *data, unsigned *out) {
    unsigned long long pointer = (unsigned long long)data;
    unsigned a, b, c;
    asm volatile("ld.global.v2.u64 {%0, %1}, [%0];" : "+l"(pointer), "=l"(data[8])::"memory");
    asm volatile("ld.global.v4.u8 {%0, %1, %2, _}, [%3];" : "=r"(a), "=r"(b), "=r"(c) : "l"(out));
    out[4] = a + b + c + (unsigned)pointer;
    asm volatile("st.global.v4.s32 [%0], {%1, -1, 5, %2};" ::"l"(out + 8), "r"(a), "r"(b) : "memory");
}
