// nvcc program: -arch=sm_75 -lineinfo
// A message between two blocks that the program never looks at: whatever arrives, it exits with 0. With `fenced` there are fences on
// either side of the flag. `seen` is filled in the order in which blocks come, and may rightly differ from run to run.
// With `freed` the memory is freed; else the program's end ends it. With `leaves` the program ends without exit().
#include <cstring>
#include <unistd.h>

#include "check.h"

__device__ volatile int ready;
__device__ int received;

__global__ void talk(volatile int *message, int *copied, int *seen, int *count, bool fenced) {
    seen[atomicAdd(count, 1)] = blockIdx.x;
    if (blockIdx.x == 0) {
        *message = 42;
        if (fenced) __threadfence();
        ready = 1;
    } else {
        while (!ready) {
        }
        if (fenced) __threadfence();
        copied[0] = received = *message;
    }
}

int main(int arguments, char **argument) {
    auto has = [&](const char *word) {
        for (int i = 1; i < arguments; i++) {
            if (std::strcmp(argument[i], word) == 0) return true;
        }
        return false;
    };
    int *message, *copied, *seen, *count;
    // Gone before the first launch: a trial that is forked there has to know of it all the same.
    CHECK(cudaMalloc(&message, 64));
    CHECK(cudaFree(message));
    CHECK(cudaMalloc(&message, sizeof(int)));
    CHECK(cudaMalloc(&copied, 100 * sizeof(int)));
    CHECK(cudaMalloc(&seen, 2 * sizeof(int)));
    CHECK(cudaMalloc(&count, sizeof(int)));
    talk<<<2, 1>>>(message, copied, seen, count, has("fenced"));
    CHECK(cudaDeviceSynchronize());
    if (has("freed")) {
        for (int *memory : {message, copied, seen, count}) CHECK(cudaFree(memory));
    }
    if (has("leaves")) _exit(0);
    return 0;
}
