// Copying warps and compute warps, in the manner of CudaDMA (SC '11): the copying warps wait until a buffer is empty and say when it is full,
// the compute warps the other way round. One buffer; two, each with copying warps of its own; two and four with the same copying warps.
// BUG: the compute warps say that the buffer is empty before they have read it to the end.

#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

constexpr int COMPUTE = 128, COPY = 32, STEPS = 16;

// Barriers of buffer b: 2b is "empty", 2b + 1 is "full".
template <int BUFFERS, int GROUPS, bool BUG>
static __device__ void pipeline(const float *in, float *out) {
    __shared__ float buffer[BUFFERS][COMPUTE];
    int tid = threadIdx.x;
    if (tid < COMPUTE) {
        float sum = 0;
        for (int b = 0; b < BUFFERS; b++) ARRIVE(2 * b, COMPUTE + COPY);
        for (int step = 0; step < STEPS; step++) {
            int b = step % BUFFERS;
            SYNC(2 * b + 1, COMPUTE + COPY);
            sum += buffer[b][tid];
            if (BUG && step + BUFFERS < STEPS) ARRIVE(2 * b, COMPUTE + COPY);
            sum += 2 * buffer[b][COMPUTE - 1 - tid];
            if (!BUG && step + BUFFERS < STEPS) ARRIVE(2 * b, COMPUTE + COPY);
        }
        out[blockIdx.x * COMPUTE + tid] = sum;
    } else {
        int group = (tid - COMPUTE) / COPY, lane = tid % COPY;
        for (int step = group; step < STEPS; step += GROUPS) {
            int b = step % BUFFERS;
            SYNC(2 * b, COMPUTE + COPY);
            for (int i = lane; i < COMPUTE; i += COPY) buffer[b][i] = in[step * COMPUTE + i];
            ARRIVE(2 * b + 1, COMPUTE + COPY);
        }
    }
}

#define KERNEL(name, buffers, groups, bug)                                                                              \
    extern "C" __global__ void __launch_bounds__(COMPUTE + groups * COPY, 1) name(const float *in, float *out) {        \
        pipeline<buffers, groups, bug>(in, out);                                                                        \
    }
KERNEL(single, 1, 1, false)
KERNEL(single_bug, 1, 1, true)
KERNEL(double_, 2, 2, false)
KERNEL(double_bug, 2, 2, true)
KERNEL(manual, 2, 1, false)
KERNEL(manual_bug, 2, 1, true)
KERNEL(quad, 4, 1, false)
KERNEL(quad_bug, 4, 1, true)
