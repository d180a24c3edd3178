// Pipelines of asynchronous copies in rounds whose number only the host knows: the copies of some rounds to come are under way in each.
// Each comes right, and with mistakes.
// nvcc: -ptx -lineinfo -O3 -arch=compute_80

constexpr int T = 64;

static __device__ unsigned shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
static __device__ void copy(float *to, const float *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(shared_address(to)), "l"(from) : "memory");
}
static __device__ void commit() {
    asm volatile("cp.async.commit_group;" : : : "memory");
}
template <int N>
static __device__ void wait() {
    asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
}

enum Mistake { NONE, NO_WAIT, SHORT_WAIT, NO_BARRIER, LATE };

// STAGES buffers, as libraries have them: the copies of round i + STAGES - 1 are begun in round i. SHORT_WAIT: one group too many is left under
// way. LATE: in the fiftieth round nobody waits for the copies.
template <int STAGES, Mistake M>
static __device__ void pipeline(const float *in, float *out, int n) {
    __shared__ float buffer[STAGES][T];
    const int t = threadIdx.x;
    float sum = 0;
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < n)
            copy(&buffer[s][t], in + s * T + t);
        commit();
    }
    int read = 0, write = STAGES - 1;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (M == SHORT_WAIT)
            wait<STAGES - 1>();
        else if (M != NO_WAIT && !(M == LATE && i == 50))
            wait<STAGES - 2>();
        if (M != NO_BARRIER)
            __syncthreads();
        if (i + STAGES - 1 < n)
            copy(&buffer[write][t], in + (i + STAGES - 1) * T + t);
        commit();
        sum += buffer[read][T - 1 - t];
        read = read + 1 == STAGES ? 0 : read + 1;
        write = write + 1 == STAGES ? 0 : write + 1;
    }
    out[t] = sum;
}

extern "C" __global__ void __launch_bounds__(T) pipeline_2(const float *in, float *out, int n) {
    pipeline<2, NONE>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(T) pipeline_3(const float *in, float *out, int n) {
    pipeline<3, NONE>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(T) pipeline_4(const float *in, float *out, int n) {
    pipeline<4, NONE>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(T) pipeline_no_wait(const float *in, float *out, int n) {
    pipeline<3, NO_WAIT>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(T) pipeline_short_wait(const float *in, float *out, int n) {
    pipeline<3, SHORT_WAIT>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(T) pipeline_no_barrier(const float *in, float *out, int n) {
    pipeline<4, NO_BARRIER>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(T) pipeline_late(const float *in, float *out, int n) {
    pipeline<2, LATE>(in, out, n);
}

// Two buffers by the parity of the round; all that is under way is waited for. TOO_EARLY: the next copy is begun before all have read.
template <bool TOO_EARLY>
static __device__ void turns(const float *in, float *out, int n) {
    __shared__ float buffer[2][T];
    const int t = threadIdx.x;
    float sum = 0;
    copy(&buffer[0][t], in + t);
    commit();
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (!TOO_EARLY) {
            wait<0>();
            __syncthreads();
        }
        copy(&buffer[(i + 1) & 1][t], in + (i + 1) * T + t);
        commit();
        if (TOO_EARLY) {
            wait<1>();
            __syncthreads();
        }
        sum += buffer[i & 1][T - 1 - t];
    }
    wait<0>();
    out[t] = sum;
}

extern "C" __global__ void __launch_bounds__(T) copies_by_turns(const float *in, float *out, int n) {
    turns<false>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(T) copies_too_early(const float *in, float *out, int n) {
    turns<true>(in, out, n);
}
