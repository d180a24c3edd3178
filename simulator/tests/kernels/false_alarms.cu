// Programs that are right under the PTX memory model, which the paper's Algorithm 1 makes fail.

static __device__ int now(const int *data) { return *(const volatile int *)data; }

// A barrier orders global memory for the block (PTX ISA 9.7.13.1), but Algorithm 1, line 39, drains shared
// stores alone there: every thread reads its neighbour's old word.
extern "C" __global__ void neighbours(int *data, int *out) {
    data[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    out[threadIdx.x] = now(data + (threadIdx.x ^ 1));
}

// A thread's atomic comes after its own store to the same word. Algorithm 1 knows no atomics: they go by the
// buffer, and the store that drains later takes their effect back.
extern "C" __global__ void own_store_then_atomic(int *data, int *out) {
    int *own = data + threadIdx.x;
    *own = 5;
    out[threadIdx.x] = atomicAdd(own, 1);
}

// Coherence: who has seen a value of a location never sees an older one again. Algorithm 1 lets the store happen,
// and puts the old value back afterwards; somebody who looked in between has seen it.
extern "C" __global__ void seen_twice(volatile int *data, int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) *data = 1;
    } else if (threadIdx.x == 0) {
        while (*data == 0) {
        }
        out[0] = *data;
    }
}

// __syncwarp() orders memory for the warp; the paper does not name it.
extern "C" __global__ void neighbours_in_a_warp(int *data, int *out) {
    data[threadIdx.x] = threadIdx.x + 1;
    __syncwarp();
    out[threadIdx.x] = now(data + (threadIdx.x ^ 1));
}
