// Lookups in layers, cubes and levels of detail, and gathers, at given coordinates, one a thread.
#include <cuda_runtime.h>

#define AT unsigned at = blockIdx.x * blockDim.x + threadIdx.x; if (at >= count) return; float4 c = where[at]
#define LOOKUPS cudaTextureObject_t texture, const float4 *where, unsigned count, float4 *out
#define KERNEL(name, lookup) \
    extern "C" __global__ void name(LOOKUPS) { AT; out[at] = lookup; }

// The layer is the last one that the lookup takes, as a whole number.
KERNEL(layered1, tex1DLayered<float4>(texture, c.x, (int)c.z))
KERNEL(layered2, tex2DLayered<float4>(texture, c.x, c.y, (int)c.z))
KERNEL(cube, texCubemap<float4>(texture, c.x, c.y, c.z))
KERNEL(cubes, texCubemapLayered<float4>(texture, c.x, c.y, c.z, (int)c.w))
KERNEL(level1, tex1DLod<float4>(texture, c.x, c.w))
KERNEL(level2, tex2DLod<float4>(texture, c.x, c.y, c.w))
KERNEL(level3, tex3DLod<float4>(texture, c.x, c.y, c.z, c.w))
KERNEL(level_layered, tex2DLayeredLod<float4>(texture, c.x, c.y, (int)c.z, c.w))
KERNEL(level_cube, texCubemapLod<float4>(texture, c.x, c.y, c.z, c.w))
// Derivatives of so much by x alone, and half of it by y.
KERNEL(derived2, tex2DGrad<float4>(texture, c.x, c.y, make_float2(c.w, 0), make_float2(0, c.w / 2)))
KERNEL(base2, tex2D<float4>(texture, c.x, c.y))
KERNEL(gather0, tex2Dgather<float4>(texture, c.x, c.y, 0))
KERNEL(gather1, tex2Dgather<float4>(texture, c.x, c.y, 1))
KERNEL(gather3, tex2Dgather<float4>(texture, c.x, c.y, 3))

extern "C" __global__ void faces(cudaSurfaceObject_t surface) {
    int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x;
    surfCubemapwrite(surfCubemapread<float>(surface, 4 * x, y, face) + face, surface, 4 * x, y, face);
}

#define ASK(instruction, at) asm volatile(instruction " %0, [%1];" : "=r"(out[at]) : "l"(object))
extern "C" __global__ void ask_texture(cudaTextureObject_t object, unsigned *out) {
    ASK("txq.width.b32", 0);
    ASK("txq.height.b32", 1);
    ASK("txq.depth.b32", 2);
    ASK("txq.channel_data_type.b32", 3);
    ASK("txq.channel_order.b32", 4);
    ASK("txq.normalized_coords.b32", 5);
    ASK("txq.array_size.b32", 6);
    ASK("txq.num_mipmap_levels.b32", 7);
    ASK("txq.num_samples.b32", 8);
}
extern "C" __global__ void ask_surface(cudaSurfaceObject_t object, unsigned *out) {
    ASK("suq.width.b32", 0);
    ASK("suq.height.b32", 1);
    ASK("suq.depth.b32", 2);
    ASK("suq.channel_data_type.b32", 3);
    ASK("suq.channel_order.b32", 4);
    ASK("suq.array_size.b32", 5);
    ASK("suq.memory_layout.b32", 6);
}
