// Kernels as large as the largest that the paper verified (its Figures 9 and 10), for measuring: `singe` is sized like hept_chem_fermi, `saxpy`
// like saxpy_single.

#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

// 640 threads; 31 rounds of 32 dynamic barriers: warps in pairs hand values over, in turn to each side, three times; two barriers of the whole CTA
// end a round. Accesses and arithmetic in such numbers that a thread makes about 11,900 commands.
extern "C" __global__ void __launch_bounds__(640, 1) singe(const float *in, float *out) {
    __shared__ float slot[20][256];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int pair = warp / 2, side = warp % 2;
    float x = in[threadIdx.x], y = 1;
#pragma unroll 1
    for (int round = 0; round < 31; round++) {
#pragma unroll 1
        for (int step = 0; step < 3; step++) {
            // One of the pair gives, the other takes; then the other way round. Barrier 1 + pair: the pair's own.
            if (side == (step & 1)) {
#pragma unroll 1
                for (int i = 0; i < 128; i++) {
                    x = x * 1.25f + y;
                    y = y - x * in[i];
                    slot[warp][(i * 32 + lane) & 255] = x + y;
                }
                SYNC(1 + pair, 64);
            } else {
                SYNC(1 + pair, 64);
#pragma unroll 1
                for (int i = 0; i < 128; i++) {
                    x = x * slot[warp ^ 1][(i * 32 + lane) & 255] + y;
                    y = y * x + in[i];
                }
            }
        }
        __syncthreads();
        y += slot[(warp + 7) % 20][lane];
        __syncthreads();
    }
    out[threadIdx.x] = x + y;
}

// 256 compute threads and 64 that copy, 4,096 times: barrier 0 is "empty", barrier 1 is "full".
extern "C" __global__ void __launch_bounds__(320, 1) saxpy(const float *in, float *out) {
    __shared__ float buffer[2][256];
    int tid = threadIdx.x;
    if (tid < 256) {
        float sum = 0;
        ARRIVE(0, 320);
#pragma unroll 1
        for (int step = 0; step < 4096; step++) {
            SYNC(1, 320);
            sum += buffer[0][tid];
            if (step < 4095) ARRIVE(0, 320);
        }
        out[tid] = sum;
    } else {
        int lane = tid - 256;
#pragma unroll 1
        for (int step = 0; step < 4096; step++) {
            SYNC(0, 320);
            float4 four = reinterpret_cast<const float4 *>(in)[step * 64 + lane];
            reinterpret_cast<float4 *>(buffer[0])[lane] = four;
            ARRIVE(1, 320);
        }
    }
}
