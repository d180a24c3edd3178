#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void maths(double *d, float *f) {
    int i = threadIdx.x;
    double x = d[i];
    float y = f[i];
    d[1] = sin(x) + cos(x) + exp(x) + log(x) + pow(x, 1.7) + sqrt(x) + rsqrt(x) + x / d[2] + fma(x, x, 2.0) +
           floor(x) + ceil(x) + rint(x) + trunc(x) + fabs(x) + fmin(x, 3.0) + fmax(x, 1.0) +
           copysign(x, d[3]) + tanh(x) + fmod(x, 3.3);
    f[1] = sinf(y) + cosf(y) + expf(y) + logf(y) + powf(y, 1.7f) + sqrtf(y) + rsqrtf(y) + y / f[2] +
           fmaf(y, y, 2.0f) + floorf(y) + ceilf(y) + rintf(y) + truncf(y) + roundf(y) + fabsf(y) +
           fminf(y, 3.0f) + fmaxf(y, 1.0f) + copysignf(y, f[3]) + tanhf(y) + fmodf(y, 3.3f);
    f[2] = __sinf(y) + __cosf(y) + __expf(y) + __logf(y) + __fdividef(y, f[9]) + __frcp_rn(y) +
           __saturatef(y) + __fadd_rz(y, 1.f) + __fmul_rd(y, 2.f) + __fmaf_ru(y, y, y) + __fsqrt_rz(y) +
           __frsqrt_rn(y);
    d[2] = __dadd_rz(x, 1.) + __dmul_ru(x, 3.) + __ddiv_rn(x, 5.) + __drcp_rn(x);
    d[3] = (double)y + (int)x + (long long)x + (unsigned)y + __double2int_rn(x) + __float2int_rn(y) +
           __double_as_longlong(x) + __float_as_int(y) + __hiloint2double(3, i);
    f[3] = (float)x + (float)i + (float)(unsigned)i + (float)(long long)i + (float)(unsigned long long)i +
           (float)(unsigned short)i + (float)(signed char)i;
    f[4] = isnan(y) ? 1.f : isinf(y) ? 2.f : y > 3.f ? 1.f : y <= x ? 4.f : 9.f;
    if (!(y < f[7]))
        f[8] = 1;
    if (!(x >= d[7]))
        d[8] = 1;
    if (x != d[9])
        d[9] = 0;
}
__global__ void halves(__half *h, __half2 *h2, __nv_bfloat16 *b, float *f) {
    int i = threadIdx.x;
    __half x = h[i];
    h[i] = x * x + __float2half(2.0f);
    h2[i] = __hfma2(h2[i], h2[i + 1], h2[i + 2]);
    h2[i + 1] = __hmul2(h2[i], h2[i]);
    if (__hlt(x, h[3]))
        h[4] = __hneg(x);
    b[i] = __float2bfloat16(f[i]);
    f[i] += __bfloat162float(b[i + 1]) + __half2float(h[9]);
    h[7] = hexp(x);
    h[8] = __hdiv(x, h[1]);
    h[9] = __hmax(x, h[2]);
    h[12] = __int2half_rn(i);
    f[8] = __half2int_rz(h[5]);
    atomicAdd(h2, h2[5]);
    atomicAdd(h, x);
}
