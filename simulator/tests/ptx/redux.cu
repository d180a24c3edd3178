// Reductions of a warp, whole and of the lanes of a mask.
// nvcc: -ptx -lineinfo -arch=compute_80
//! buffer out u32 288
//! launch redux 1 32 : out
//! expect out = 496@32 0@32 31@32 0xfffffff0@32 0xf@32 0@32 31@32 0@32 120@16 376@16
//! seeds 5
extern "C" __global__ void redux(unsigned *out)
{
    unsigned lane = threadIdx.x, all = 0xffffffff;
    out[lane] = __reduce_add_sync(all, lane);
    out[32 + lane] = __reduce_min_sync(all, lane);
    out[64 + lane] = __reduce_max_sync(all, lane);
    out[96 + lane] = __reduce_min_sync(all, (int)lane - 16);
    out[128 + lane] = __reduce_max_sync(all, (int)lane - 16);
    out[160 + lane] = __reduce_and_sync(all, lane);
    out[192 + lane] = __reduce_or_sync(all, lane);
    out[224 + lane] = __reduce_xor_sync(all, lane);
    unsigned half = lane < 16 ? 0xffff : 0xffff0000;
    if (lane < 16)
        out[256 + lane] = __reduce_add_sync(half, lane);
    else
        out[256 + lane] = __reduce_add_sync(half, lane);
}
