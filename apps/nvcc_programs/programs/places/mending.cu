// nvcc program: -lineinfo -arch=compute_75
//
// Programs that barriers mend, or wider scopes. Stretches are marked as in places.cu; the argument names the kernel; exit code 1
// when a thread read what it must not.

#include <cstring>

#include "../check.h"

// Threads of two warps read what the other warp wrote: there is no barrier between.
__global__ void without_barrier(int *words, int n) {
    __shared__ volatile int shared[64];
    int me = threadIdx.x;
    //< without_barrier behind
    shared[me] = n;
    //>
    words[me] = shared[me ^ 32];
}

// The same, where the first warp alone comes by.
__global__ void half_a_block(int *words, int n) {
    __shared__ volatile int shared[64];
    int me = threadIdx.x;
    if (me < 32) {
        //< half_a_block behind
        shared[me] = n;
        //>
    }
    __syncthreads();
    words[me] = shared[me % 32];
}

// Lanes of a warp read what others wrote, a lane at a time.
__global__ void without_warp_barrier(int *words, int n) {
    __shared__ volatile int shared[64];
    int me = threadIdx.x;
    //< without_warp_barrier behind
    shared[me] = n;
    //>
    words[me] = shared[me ^ 5];
}

// The same, where half of the lanes come by.
__global__ void half_a_warp(int *words, int n) {
    __shared__ volatile int shared[64];
    int me = threadIdx.x;
    if (me % 2) {
        //< half_a_warp behind
        shared[me] = n;
        //>
    }
    __syncthreads();
    words[me] = shared[me | 1];
}

// A message whose fence is one of the block, to another block.
__global__ void narrow_fence(volatile int *words, int n) {
    if (blockIdx.x == 0) {
        words[256] = 1;
        __threadfence_block();
        words[384] = 1;
    } else {
        for (int turn = 0; turn < 8; turn++) {
            if (words[384]) {
                __threadfence();
                if (words[256] == 0) words[0] = -1;
                return;
            }
        }
    }
}

// A message whose flag is released and acquired for the block, to another block.
__global__ void narrow_flag(int *words, int n) {
    if (blockIdx.x == 0) {
        words[256] = 1;
        asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(words + 384) : "memory");
    } else {
        for (int turn = 0; turn < 8; turn++) {
            int flag;
            asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(flag) : "l"(words + 384) : "memory");
            if (flag) {
                if (words[256] == 0) words[0] = -1;
                return;
            }
        }
    }
}

// A message whose flag is taken by an atomic of the block.
__global__ void narrow_atomic(int *words, int n) {
    if (blockIdx.x == 0) {
        words[256] = 1;
        asm volatile("red.release.cta.global.add.u32 [%0], 1;" ::"l"(words + 384) : "memory");
    } else {
        for (int turn = 0; turn < 8; turn++) {
            int flag;
            asm volatile("atom.acquire.cta.global.add.u32 %0, [%1], 0;" : "=r"(flag) : "l"(words + 384) : "memory");
            if (flag) {
                if (words[256] == 0) words[0] = -1;
                return;
            }
        }
    }
}

// A message whose flag is stored and loaded plainly, with fences that are no more than release and acquire.
__global__ void plain_flag(int *words, int n) {
    if (blockIdx.x == 0) {
        words[256] = 1;
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        words[384] = 1;
    } else {
        for (int turn = 0; turn < 8; turn++) {
            if (words[384]) {
                asm volatile("fence.acq_rel.gpu;" ::: "memory");
                if (words[256] == 0) words[0] = -1;
                return;
            }
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
        }
    }
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    int *words, seen[64];
    CHECK(cudaMalloc(&words, 8192));
    CHECK(cudaMemset(words, 0, 8192));
    int n = 4;
#define RUN(kernel, blocks, threads) if (!strcmp(which, #kernel)) kernel<<<blocks, threads>>>(words, n)
    RUN(without_barrier, 1, 64);
    RUN(half_a_block, 1, 64);
    RUN(without_warp_barrier, 1, 64);
    RUN(half_a_warp, 1, 64);
    RUN(narrow_fence, 2, 1);
    RUN(narrow_flag, 2, 1);
    RUN(narrow_atomic, 2, 1);
    RUN(plain_flag, 2, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(seen, words, sizeof seen, cudaMemcpyDeviceToHost));
    bool message = !strncmp(which, "narrow", 6) || !strncmp(which, "plain", 5);
    for (int i = 0; i < 64; i++) EXPECT("what was read", seen[i], message ? 0 : n);
    return 0;
}
