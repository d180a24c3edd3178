// nvcc program:
//
// Small talk between two threads, as litmus tests have it, for the options that say where fences and delays go. The
// argument chooses; exit code 1 when what comes out takes a weak memory model.

#include <cstring>

#include "check.h"

// Message passing between two blocks; the fence stands behind the flag's store, where it orders nothing that matters.
template <bool kFence>
__global__ void message(volatile int *data, volatile int *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 1;
        *flag = 1;
        if (kFence) __threadfence();
    } else {
        for (int turn = 0; turn < 8; turn++) {
            if (*flag) {
                out[0] = 1;
                out[1] = *data;
                return;
            }
        }
    }
}

// Two threads load what the other one stores behind its own load.
__global__ void buffered_in_shared(int *out) {
    __shared__ volatile int words[2];
    int me = threadIdx.x / 32;
    if (threadIdx.x % 32 != 0) return;
    int seen = words[me];
    words[1 - me] = 1;
    out[me] = seen;
}

__global__ void buffered_in_global(volatile int *words, int *out) {
    int me = blockIdx.x;
    int seen = words[me];
    words[1 - me] = 1;
    out[me] = seen;
}

// Nothing but atomics on one word.
__global__ void count(int *out) { atomicAdd(out, 1); }

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    int *words, *out, seen[2];
    CHECK(cudaMalloc(&words, 8));
    CHECK(cudaMalloc(&out, 8));
    CHECK(cudaMemset(words, 0, 8));
    CHECK(cudaMemset(out, 0, 8));
    if (!strcmp(which, "message")) message<false><<<2, 1>>>(words, words + 1, out);
    if (!strcmp(which, "message-fenced")) message<true><<<2, 1>>>(words, words + 1, out);
    if (!strcmp(which, "shared")) buffered_in_shared<<<1, 64>>>(out);
    if (!strcmp(which, "global")) buffered_in_global<<<2, 1>>>(words, out);
    if (!strcmp(which, "count")) count<<<4, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(seen, out, 8, cudaMemcpyDeviceToHost));
    if (!strcmp(which, "count")) return seen[0] != 128;
    if (!strncmp(which, "message", 7)) return seen[0] == 1 && seen[1] == 0;
    return seen[0] == 1 && seen[1] == 1;
}
