// Every width from 8 to 64 bits, signed and not, in registers of their own width and wider ones.
#include <cuda_fp16.h>

template <class T>
__device__ void touch(T *data, int i) {
    data[i] = data[i] + T(1);
    data[i + 1] = T(3);
    data[i + 2] = data[i];
}

extern "C" __global__ void all(signed char *s8, unsigned char *u8, short *s16, unsigned short *u16, int *s32,
                               unsigned *u32, long long *s64, unsigned long long *u64, float *f32, double *f64,
                               __half *f16, __half2 *f16x2, bool *flag) {
    int i = 3 * (blockIdx.x * blockDim.x + threadIdx.x);
    touch(s8, i);
    touch(u8, i);
    touch(s16, i);
    touch(u16, i);
    touch(s32, i);
    touch(u32, i);
    touch(s64, i);
    touch(u64, i);
    touch(f32, i);
    touch(f64, i);
    f16[i] = __hadd(f16[i], f16[i + 1]);
    f16x2[i] = __hadd2(f16x2[i], f16x2[i + 1]);
    flag[i] = !flag[i];
}

// Sub-words of a larger value, read back at once.
extern "C" __global__ void parts(unsigned long long *data, long long *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile unsigned char *bytes = (volatile unsigned char *)(data + i);
    data[i] = 0x8182838485868788ull + i;
    long long sum = ((signed char *)bytes)[3] + ((short *)bytes)[1] * 256ll + ((int *)bytes)[1];
    bytes[5] = 0x77;
    out[i] = sum + (long long)data[i];
}
