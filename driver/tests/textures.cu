// Lookups at given coordinates, one a thread: the results as they come, 32 bits a component.
#include <cuda_runtime.h>

#define AT unsigned at = blockIdx.x * blockDim.x + threadIdx.x; if (at >= count) return; float4 c = where[at]
#define LOOKUPS cudaTextureObject_t texture, const float4 *where, unsigned count

static __device__ uint4 bits(float4 v) {
    return make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w));
}
static __device__ uint4 bits(int4 v) { return make_uint4(v.x, v.y, v.z, v.w); }
static __device__ uint4 bits(uint4 v) { return v; }

#define OF_TYPE(type, name)                                                                                            \
    extern "C" __global__ void fetch_##name(LOOKUPS, uint4 *out) {                                                     \
        AT;                                                                                                            \
        out[at] = bits(tex1Dfetch<type>(texture, __float_as_int(c.x)));                                                \
    }                                                                                                                  \
    extern "C" __global__ void d1_##name(LOOKUPS, uint4 *out) { AT; out[at] = bits(tex1D<type>(texture, c.x)); }       \
    extern "C" __global__ void d2_##name(LOOKUPS, uint4 *out) { AT; out[at] = bits(tex2D<type>(texture, c.x, c.y)); }  \
    extern "C" __global__ void d3_##name(LOOKUPS, uint4 *out) {                                                        \
        AT;                                                                                                            \
        out[at] = bits(tex3D<type>(texture, c.x, c.y, c.z));                                                           \
    }

OF_TYPE(float4, f32)
OF_TYPE(int4, s32)
OF_TYPE(uint4, u32)

// A texture for each half of a block: lanes of a warp name several.
extern "C" __global__ void two(cudaTextureObject_t one, cudaTextureObject_t other, float *out) {
    out[threadIdx.x] = tex1Dfetch<float>(threadIdx.x % 2 ? one : other, threadIdx.x);
}
