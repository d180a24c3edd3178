// Accesses to surfaces at given coordinates, one a thread.
#include <cuda_runtime.h>

#define AT unsigned at = blockIdx.x * blockDim.x + threadIdx.x; if (at >= count) return; int4 c = where[at]
#define ACCESSES cudaSurfaceObject_t surface, const int4 *where, unsigned count, unsigned *values

#define WITH_BOUNDS(mode, name)                                                                                    \
    extern "C" __global__ void read1_##name(ACCESSES) { AT; values[at] = surf1Dread<unsigned>(surface, c.x, mode); }       \
    extern "C" __global__ void read2_##name(ACCESSES) { AT; values[at] = surf2Dread<unsigned>(surface, c.x, c.y, mode); }  \
    extern "C" __global__ void read3_##name(ACCESSES) {                                                            \
        AT;                                                                                                        \
        values[at] = surf3Dread<unsigned>(surface, c.x, c.y, c.z, mode);                                           \
    }                                                                                                              \
    extern "C" __global__ void readl_##name(ACCESSES) {                                                            \
        AT;                                                                                                        \
        values[at] = surf2DLayeredread<unsigned>(surface, c.x, c.y, c.z, mode);                                    \
    }                                                                                                              \
    extern "C" __global__ void write2_##name(ACCESSES) { AT; surf2Dwrite(values[at], surface, c.x, c.y, mode); }   \
    extern "C" __global__ void write3_##name(ACCESSES) { AT; surf3Dwrite(values[at], surface, c.x, c.y, c.z, mode); }

WITH_BOUNDS(cudaBoundaryModeTrap, trap)
WITH_BOUNDS(cudaBoundaryModeClamp, clamp)
WITH_BOUNDS(cudaBoundaryModeZero, zero)

// Every size: a value of it from one place to another.
template <class type> static __device__ void copied(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int x, int y) {
    surf2Dwrite(surf2Dread<type>(from, x * sizeof(type), y), to, x * sizeof(type), y);
}
#define COPY(type) \
    extern "C" __global__ void copy_##type(cudaSurfaceObject_t from, cudaSurfaceObject_t to) { copied<type>(from, to, threadIdx.x, threadIdx.y); }
COPY(uchar1)
COPY(uchar2)
COPY(uchar4)
COPY(short1)
COPY(short2)
COPY(short4)
COPY(int1)
COPY(int2)
COPY(int4)
COPY(longlong1)
COPY(longlong2)
