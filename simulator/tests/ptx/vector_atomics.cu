// Vector atomics, element by element; elect, which takes one lane.
// nvcc: -ptx -lineinfo -arch=compute_90
//! buffer out f32 12 = 1 2 3 4 5 6
//! buffer one u32 1
//! launch add 2 32 : out one
//! expect out = 65 130 67 132 197 262 0@6
//! expect one = 2
extern "C" __global__ void add(float *out, unsigned *one)
{
    atomicAdd((float2 *)out, make_float2(1, 2));
    // From the third float on it is not aligned to 16 bytes, as a pair it is.
    atomicAdd((float2 *)(out + 2), make_float2(1, 2));
    float2 old = atomicAdd((float2 *)(out + 4), make_float2(3, 4));
    if (old.x < 5)
        out[11] = 1;
    unsigned elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
    atomicAdd(one, elected);
}
