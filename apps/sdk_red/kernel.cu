// Reduction in one pass, after the CUDA SDK's threadFenceReduction: every block leaves a partial sum in
// global memory and takes a ticket; the block with the last ticket adds up the partial sums of all.
// Two variants differ in the one fence between partial sum and ticket; the third has another after the ticket.

constexpr int kThreadsPerBlock = 128;

// The sum of `part` over the block's threads; thread 0's return value is the one that counts.
__device__ __forceinline__ unsigned sum_of_block(unsigned part) {
    __shared__ unsigned cache[kThreadsPerBlock];
    cache[threadIdx.x] = part;
    __syncthreads();
    for (unsigned half = kThreadsPerBlock / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) cache[threadIdx.x] += cache[threadIdx.x + half];
        __syncthreads();
    }
    return cache[0];
}

// `partials` holds one sum a block, `tickets` starts at zero and ends there.
// As in the original there is no fence after the ticket: that the partial sums are not read early rests
// on the order in which the volatile reads follow the ticket, the barrier and the flag in shared memory.
// The PTX memory model promises it with kFenceAfter alone.
template <bool kFence, bool kFenceAfter = false>
__device__ __forceinline__ void reduce(
    const unsigned *input, unsigned *partials, unsigned *sum, unsigned *tickets, unsigned n) {
    __shared__ bool is_last;
    unsigned part = 0;
    for (unsigned i = threadIdx.x + blockIdx.x * kThreadsPerBlock; i < n; i += kThreadsPerBlock * gridDim.x) {
        part += input[i];
    }
    part = sum_of_block(part);

    if (threadIdx.x == 0) {
        partials[blockIdx.x] = part;
    }
    if constexpr (kFence) __threadfence();
    if (threadIdx.x == 0) {
        unsigned ticket = atomicInc(tickets, gridDim.x);
        if constexpr (kFenceAfter) __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();

    if (is_last) {
        const volatile unsigned *finished = partials;
        part = 0;
        for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreadsPerBlock) {
            part += finished[block];
        }
        part = sum_of_block(part);
        if (threadIdx.x == 0) {
            *sum = part;
            *tickets = 0;
        }
    }
}

extern "C" __global__ void reduce_original_1_fence(
    const unsigned *input, unsigned *partials, unsigned *sum, unsigned *tickets, unsigned n) {
    reduce<true>(input, partials, sum, tickets, n);
}

extern "C" __global__ void reduce_no_fence(
    const unsigned *input, unsigned *partials, unsigned *sum, unsigned *tickets, unsigned n) {
    reduce<false>(input, partials, sum, tickets, n);
}

extern "C" __global__ void reduce_ptx_correct(
    const unsigned *input, unsigned *partials, unsigned *sum, unsigned *tickets, unsigned n) {
    reduce<true, true>(input, partials, sum, tickets, n);
}
