// Warp-level primitives: shuffles in each mode and with segments, votes, matches, sync with partial masks.
//! buffer out u32 512
//! launch warp 1 32 : out
//! expect out = 496@32 0..31*1+1 31 0 0..31 1 0 3 2 5 4 7 6 9 8 11 10 13 12 15 14 17 16 19 18 21 20 23 22 25 24 27 26 29 28 31 30 3@8 11@8 19@8 27@8 1431655765@32 0@32 1@32 0x11111111 0x22222222 0x44444444 0x88888888 0x11111111 0x22222222 0x44444444 0x88888888 0x11111111 0x22222222 0x44444444 0x88888888 0x11111111 0x22222222 0x44444444 0x88888888 0x11111111 0x22222222 0x44444444 0x88888888 0x11111111 0x22222222 0x44444444 0x88888888 0x11111111 0x22222222 0x44444444 0x88888888 0x11111111 0x22222222 0x44444444 0x88888888 0xffffffff@32 120@16 376@16
//! seeds 5
extern "C" __global__ void warp(unsigned *out)
{
    unsigned lane = threadIdx.x, all = 0xffffffff, sum = lane;
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(all, sum, d);
    out[lane] = __shfl_sync(all, sum, 0);
    out[32 + lane] = __shfl_down_sync(all, lane, 1);
    out[64 + lane] = __shfl_up_sync(all, lane, 1);
    out[96 + lane] = __shfl_xor_sync(all, lane, 1);
    out[128 + lane] = __shfl_sync(all, lane, 3, 8);
    out[160 + lane] = __ballot_sync(all, !(lane & 1));
    out[192 + lane] = __all_sync(all, lane < 31);
    out[224 + lane] = __any_sync(all, lane == 31);
    out[256 + lane] = __match_any_sync(all, lane & 3);
    int same;
    out[288 + lane] = __match_all_sync(all, 5ull, &same) * same;
    // Two halves that diverge, each summing on its own.
    unsigned half = lane < 16 ? 0xffff : 0xffff0000, part = lane;
    if (lane < 16) {
        for (int d = 8; d; d /= 2)
            part += __shfl_xor_sync(0xffff, part, d);
    } else {
        for (int d = 8; d; d /= 2)
            part += __shfl_xor_sync(0xffff0000, part, d);
    }
    __syncwarp(half);
    out[320 + lane] = part;
}
