// nvcc: -ptx -arch=compute_80 -std=c++17 --diag-suppress=20054
// nvcc cccl_90.ptx: -ptx -arch=compute_90 -std=c++17 --diag-suppress=20054
// The forms in which the CUDA C++ Programming Guide uses cuda::barrier, cuda::pipeline and memcpy_async; each once right, and for compute
// capability 9.0 once with a mistake.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
template <int STAGES> using state = cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES>;

#define RIGHT(name)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(128, 1) name(float *out, const float *in) { name##_of<false>(out, in); }
#if __CUDA_ARCH__ >= 900
#define KERNEL(name)                                                                                                \
    RIGHT(name)                                                                                                     \
    extern "C" __global__ void __launch_bounds__(128, 1) name##_wrong(float *out, const float *in) { name##_of<true>(out, in); }
#else
#define KERNEL(name) RIGHT(name)
#endif
#define BODY template <bool WRONG> static __device__ void

// WRONG: the data is overwritten while others read it.
BODY arrive_and_wait_of(float *out, const float *) {
    __shared__ barrier bar;
    __shared__ float data[128];
    if (threadIdx.x == 0) init(&bar, 128);
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        data[threadIdx.x] = i;
        bar.arrive_and_wait();
        sum += data[127 - threadIdx.x];
        if (!WRONG) bar.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}
KERNEL(arrive_and_wait)

// WRONG: nobody waits for what the token stands for.
BODY token_of(float *out, const float *) {
    __shared__ barrier bar;
    __shared__ float data[128];
    if (threadIdx.x == 0) init(&bar, 128);
    __syncthreads();
    data[threadIdx.x] = threadIdx.x;
    barrier::arrival_token token = bar.arrive();
    float x = threadIdx.x * 2.0f;
    if (!WRONG) bar.wait(std::move(token));
    out[threadIdx.x] = data[127 - threadIdx.x] + x;
}
KERNEL(token)

// WRONG: the parity does not change.
BODY parity_of(float *out, const float *) {
    __shared__ barrier bar;
    __shared__ float data[128];
    if (threadIdx.x == 0) init(&bar, 128);
    __syncthreads();
    float sum = 0;
    bool parity = false;
    for (int i = 0; i < 4; i++) {
        data[threadIdx.x] = i;
        (void)bar.arrive();
        bar.wait_parity(parity);
        if (!WRONG) parity = !parity;
        sum += data[127 - threadIdx.x];
        (void)bar.arrive();
        bar.wait_parity(parity);
        if (!WRONG) parity = !parity;
    }
    out[threadIdx.x] = sum;
}
KERNEL(parity)

// A warp leaves after two rounds. WRONG: without telling.
BODY drop_of(float *out, const float *) {
    __shared__ barrier bar;
    __shared__ float data[128];
    if (threadIdx.x == 0) init(&bar, 128);
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        if (threadIdx.x >= 96 && i == 2) {
            if (!WRONG) bar.arrive_and_drop();
            break;
        }
        data[threadIdx.x] = i;
        bar.arrive_and_wait();
        sum += data[(i < 2 ? 127 : 95) - threadIdx.x];
        bar.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}
KERNEL(drop)

// Producers and consumers, two buffers, a pair of barriers for each. WRONG: a buffer is given back before it is read.
BODY producer_consumer_of(float *out, const float *in) {
    __shared__ barrier bar[4];
    __shared__ float buffer[2][64];
    if (threadIdx.x < 4) init(&bar[threadIdx.x], 128);
    __syncthreads();
    barrier *ready = &bar[0], *filled = &bar[2];
    if (threadIdx.x < 64) {
        for (int i = 0; i < 6; i++) {
            ready[i % 2].arrive_and_wait();
            buffer[i % 2][threadIdx.x] = in[i * 64 + threadIdx.x];
            (void)filled[i % 2].arrive();
        }
    } else {
        (void)ready[0].arrive();
        (void)ready[1].arrive();
        float sum = 0;
        for (int i = 0; i < 6; i++) {
            filled[i % 2].arrive_and_wait();
            if (WRONG) (void)ready[i % 2].arrive();
            sum += buffer[i % 2][127 - threadIdx.x];
            if (!WRONG) (void)ready[i % 2].arrive();
        }
        out[threadIdx.x] = sum;
    }
}
KERNEL(producer_consumer)

// Three warps compute, one reduces what they leave. WRONG: the reducing warp does not wait.
BODY specialised_of(float *out, const float *in) {
    __shared__ barrier full, empty;
    __shared__ float part[96];
    if (threadIdx.x == 0) {
        init(&full, 128);
        init(&empty, 128);
    }
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 3; i++) {
        if (threadIdx.x < 96) {
            part[threadIdx.x] = in[i * 96 + threadIdx.x];
            (void)full.arrive();
            empty.arrive_and_wait();
        } else {
            if (WRONG) (void)full.arrive();
            else full.arrive_and_wait();
            int lane = threadIdx.x % 32;
            sum += part[lane] + part[lane + 32] + part[lane + 64];
            empty.arrive_and_wait();
        }
    }
    out[threadIdx.x] = sum;
}
KERNEL(specialised)

// WRONG: the copy is not waited for.
BODY copy_of(float *out, const float *in) {
    __shared__ barrier bar;
    __shared__ alignas(16) float buffer[128];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, 128);
    block.sync();
    float sum = 0;
    for (int i = 0; i < 3; i++) {
        cuda::memcpy_async(block, buffer, in + i * 128, cuda::aligned_size_t<16>(sizeof(float) * 128), bar);
        if (WRONG) block.sync();
        else bar.arrive_and_wait();
        sum += buffer[127 - threadIdx.x];
        block.sync();
    }
    out[threadIdx.x] = sum;
}
KERNEL(copy)

// WRONG: one group too many may be under way.
BODY group_copy_of(float *out, const float *in) {
    __shared__ alignas(16) float buffer[2][128];
    auto block = cg::this_thread_block();
    float sum = 0;
    cg::memcpy_async(block, buffer[0], in, cuda::aligned_size_t<16>(sizeof(float) * 128));
    for (int i = 0; i < 3; i++) {
        if (i < 2) {
            cg::memcpy_async(block, buffer[(i + 1) % 2], in + (i + 1) * 128, cuda::aligned_size_t<16>(sizeof(float) * 128));
            cg::wait_prior<WRONG ? 2 : 1>(block);
        } else {
            cg::wait(block);
        }
        sum += buffer[i % 2][127 - threadIdx.x];
        block.sync();
    }
    out[threadIdx.x] = sum;
}
KERNEL(group_copy)

// A pipeline of each thread's own. WRONG: without the block's barrier behind the wait.
BODY own_pipeline_of(float *out, const float *in) {
    __shared__ float buffer[2][128];
    auto pipe = cuda::make_pipeline();
    float sum = 0;
    pipe.producer_acquire();
    cuda::memcpy_async(&buffer[0][threadIdx.x], in + threadIdx.x, sizeof(float), pipe);
    pipe.producer_commit();
    for (int i = 1; i < 5; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&buffer[i % 2][threadIdx.x], in + i * 128 + threadIdx.x, sizeof(float), pipe);
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        if (!WRONG) __syncthreads();
        sum += buffer[(i - 1) % 2][127 - threadIdx.x];
        __syncthreads();
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}
KERNEL(own_pipeline)

// WRONG: a stage is given back before it is read.
BODY block_pipeline_of(float *out, const float *in) {
    __shared__ alignas(16) float buffer[128];
    __shared__ state<1> shared;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &shared);
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, buffer, in + i * 128, sizeof(float) * 128, pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        if (WRONG) pipe.consumer_release();
        sum += buffer[127 - threadIdx.x];
        if (!WRONG) pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}
KERNEL(block_pipeline)

// WRONG: one buffer less than stages.
BODY stages_of(float *out, const float *in) {
    constexpr int STAGES = 2, BUFFERS = WRONG ? 1 : 2;
    __shared__ alignas(16) float buffer[BUFFERS][128];
    __shared__ state<STAGES> shared;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &shared);
    float sum = 0;
    for (int fetch = 0, compute = 0; compute < 5; compute++) {
        for (; fetch < 5 && fetch < compute + STAGES; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[fetch % BUFFERS], in + fetch * 128, cuda::aligned_size_t<16>(sizeof(float) * 128), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += buffer[compute % BUFFERS][127 - threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}
KERNEL(stages)

// Half of the block copies, the other half reads. COUNTED: the library is told how many copy; otherwise each thread says what it does.
// WRONG: the stage is not waited for.
template <bool COUNTED, bool WRONG> static __device__ void halves(float *out, const float *in) {
    constexpr int STAGES = 2;
    __shared__ alignas(16) float buffer[STAGES][64];
    __shared__ state<STAGES> shared;
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = COUNTED ? cuda::make_pipeline(block, &shared, (size_t)64) : cuda::make_pipeline(block, &shared, role);
    if (threadIdx.x < 64) {
        for (int i = 0; i < 5; i++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffer[i % STAGES][threadIdx.x], in + i * 64 + threadIdx.x, cuda::aligned_size_t<4>(sizeof(float)), pipe);
            pipe.producer_commit();
        }
    } else {
        float sum = 0;
        for (int i = 0; i < 5; i++) {
            if (!WRONG) pipe.consumer_wait();
            sum += buffer[i % STAGES][127 - threadIdx.x];
            pipe.consumer_release();
        }
        out[threadIdx.x] = sum;
    }
}
BODY roles_of(float *out, const float *in) { halves<false, WRONG>(out, in); }
KERNEL(roles)
BODY counted_of(float *out, const float *in) { halves<true, WRONG>(out, in); }
KERNEL(counted)

// A barrier's memory is used again for one of another count. WRONG: before all threads are through the first one.
BODY again_of(float *out, const float *) {
    __shared__ barrier bar;
    __shared__ float data[128];
    if (threadIdx.x == 0) init(&bar, 128);
    __syncthreads();
    data[threadIdx.x] = threadIdx.x;
    bar.arrive_and_wait();
    float sum = data[127 - threadIdx.x];
    if (!WRONG) __syncthreads();
    if (threadIdx.x == 0) {
        bar.~barrier();
        init(&bar, 64);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        data[threadIdx.x] = 1;
        bar.arrive_and_wait();
        sum += data[63 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
KERNEL(again)
