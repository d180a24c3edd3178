// nvcc program: -lineinfo -arch=compute_75
//
// Places of the source beside which a fence goes. Between `//<` and `//>` stands a stretch of the source, with its name and the
// side; `AT` stands where the fence would, and is one where the program is compiled with -DFENCES. The argument names the
// kernel; exit code 1 when a reader saw the flag and not the message, or a lock did not exclude.

#include <cstring>

#include "../check.h"

#ifdef FENCES
#define AT(name) __threadfence();
#else
#define AT(name)
#endif

#include "places.h"

// The words of a kernel: the message, the flag and what the reader saw are in lines of memory of their own.
enum { MESSAGE = 0, FLAG = 32, SEEN = 64, GOT = 65, LOCK = 96, COUNT = 128, MORE = 160, SINK = 192 };

// The reader of a message: it looks a few times, with a fence between flag and message.
static __device__ void read(volatile int *words) {
    for (int turn = 0; turn < 8; turn++) {
        if (words[FLAG]) {
            __threadfence();
            words[GOT] = words[MESSAGE];
            words[SEEN] = 1;
            return;
        }
    }
}

__global__ void simple(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    //< simple behind
    words[MESSAGE] = 1;
    //>
    AT(simple)
    words[FLAG] = 1;
}

__global__ void in_front(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    words[MESSAGE] = 1;
    AT(in_front)
    //< in_front before
    words[FLAG] = 1;
    //>
}

__global__ void wrong_side(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    words[MESSAGE] = 1;
    //< wrong_side behind
    words[FLAG] = 1;
    //>
    AT(wrong_side)
    words[MORE] = 1;
}

__global__ void in_if(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    if (n > 3) {
        //< in_if behind
        words[MESSAGE] = 1;
        //>
        AT(in_if)
    }
    words[FLAG] = 1;
}

__global__ void behind_if(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    //< behind_if behind
    if (n > 3)
        words[MESSAGE] = 1;
    else if (n < 1)
        words[MORE] = 2;
    //>
    AT(behind_if)
    words[FLAG] = 1;
}

__global__ void lock(int *words, int n) {
    //< lock behind
    while (atomicCAS(words + LOCK, 0, 1) != 0)
        ;
    //>
    AT(lock)
    words[COUNT] += 1;
    __threadfence();
    atomicExch(words + LOCK, 0);
}

__global__ void lock_with_body(int *words, int n) {
    //< lock_with_body behind
    while (atomicCAS(words + LOCK, 0, 1) != 0) {
        words[SINK + threadIdx.x] += 1;
    }
    //>
    AT(lock_with_body)
    words[COUNT] += 1;
    __threadfence();
    atomicExch(words + LOCK, 0);
}

__global__ void lock_with_break(int *words, int n) {
    //< lock_with_break behind
    for (;;) {
        if (atomicCAS(words + LOCK, 0, 1) == 0)
            break;
    }
    //>
    AT(lock_with_break)
    words[COUNT] += 1;
    __threadfence();
    atomicExch(words + LOCK, 0);
}

__global__ void spin(volatile int *words, int n) {
    if (blockIdx.x == 0) {
        words[MESSAGE] = 1;
        __threadfence();
        words[FLAG] = 1;
        return;
    }
    //< spin behind
    while (words[FLAG] == 0)
        ;
    //>
    AT(spin)
    words[GOT] = words[MESSAGE];
    words[SEEN] = 1;
}

__global__ void spin_twice(volatile int *words, int n) {
    if (blockIdx.x == 0) {
        words[MESSAGE] = 1;
        __threadfence();
        words[FLAG] = 1;
        return;
    }
    //< spin_twice behind
    do {
        words[SINK] = n;
    } while (words[FLAG] == 0);
    //>
    AT(spin_twice)
    words[GOT] = words[MESSAGE];
    words[SEEN] = 1;
}

static __device__ void release(int *words) {
    AT(unlock)
    //< unlock before
    atomicExch(words + LOCK, 0);
    //>
}

__global__ void unlock(int *words, int n) {
    for (int turn = 0; turn < n; turn++) {
        while (atomicCAS(words + LOCK, 0, 1) != 0)
            ;
        __threadfence();
        words[COUNT] += 1;
        if (n == 7) {
            release(words);
            continue;
        }
        if (n == 8) release(words);
        words[MORE] = turn;
        release(words);
    }
}

template <int kValue>
static __device__ void put(volatile int *words) {
    //< instances behind
    words[MESSAGE] = kValue;
    //>
    AT(instances)
    words[FLAG] = kValue;
}

__global__ void instances(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    put<1>(words);
    put<2>(words + 256);
}

__global__ void unrolled(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        //< unrolled behind
        words[MESSAGE + i] = words[MORE + i] + 1;
        //>
        AT(unrolled)
    }
    words[FLAG] = 1;
}

__global__ void behind_unrolled(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    //< behind_unrolled behind
    for (int i = 0; i < 4; i++)
        words[MESSAGE + i] = 1;
    //>
    AT(behind_unrolled)
    words[FLAG] = 1;
}

__global__ void in_loop(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    for (int i = 0; i < n; i++) {
        //< in_loop behind
        words[MESSAGE + i] = 1;
        //>
        AT(in_loop)
    }
    words[FLAG] = 1;
}

__global__ void behind_loop(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    //< behind_loop behind
    for (int i = 0; i < n; i++)
        words[MESSAGE + i] = 1;
    //>
    AT(behind_loop)
    words[FLAG] = 1;
}

__global__ void before_loop(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    words[MESSAGE] = 1;
    AT(before_loop)
    //< before_loop before
    for (int i = 0; i < n; i++)
        words[FLAG + i] = 1;
    //>
}

__global__ void before_return(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    words[MESSAGE] = 1;
    if (n > 3) {
        //< before_return behind
        words[MORE] = 1;
        //>
        AT(before_return)
        return;
    }
    words[FLAG] = 1;
}

static __device__ __noinline__ void send_apart(volatile int *words, int value) {
    //< apart behind
    words[MESSAGE] = value;
    //>
    AT(apart)
}

__global__ void apart(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    send_apart(words, 1);
    words[FLAG] = 1;
}

static __device__ __noinline__ void send(volatile int *words, int value) { words[MESSAGE] = value; }

__global__ void behind_call(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    //< behind_call behind
    send(words, 1);
    //>
    AT(behind_call)
    words[FLAG] = 1;
}

__global__ void header(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    announce(words, 1);
}

__global__ void last_block(int *words, int n) {
    words[MESSAGE + 512 * blockIdx.x] = 1;
    __threadfence();
    bool last = atomicAdd(words + COUNT, 1) == gridDim.x - 1;
    if (last) {
        AT(last_block)
        //< last_block before
        words[GOT] = words[MESSAGE] + words[MESSAGE + 512] - 1;
        //>
        words[SEEN] = 1;
    }
}

__global__ void behind_barrier(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    if (threadIdx.x == 0) words[MESSAGE] = 1;
    //< behind_barrier behind
    __syncthreads();
    //>
    AT(behind_barrier)
    if (threadIdx.x == n) words[FLAG] = 1;
}

__global__ void chosen(volatile int *words, int n) {
    if (blockIdx.x) return read(words);
    //< chosen behind
    words[MESSAGE] = n > 3 ? words[MORE] + 1 : words[MORE + 1] + 2;
    //>
    AT(chosen)
    words[FLAG] = 1;
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    int *words, seen[256];
    CHECK(cudaMalloc(&words, 8192));
    CHECK(cudaMemset(words, 0, 8192));
    int n = 4;
#define RUN(kernel, threads) if (!strcmp(which, #kernel)) kernel<<<2, threads>>>(words, n)
    RUN(simple, 1);
    RUN(in_front, 1);
    RUN(wrong_side, 1);
    RUN(in_if, 1);
    RUN(behind_if, 1);
    RUN(lock, 1);
    RUN(lock_with_body, 1);
    RUN(lock_with_break, 1);
    RUN(spin, 1);
    RUN(spin_twice, 1);
    RUN(unlock, 1);
    RUN(instances, 1);
    RUN(unrolled, 1);
    RUN(behind_unrolled, 1);
    RUN(in_loop, 1);
    RUN(behind_loop, 1);
    RUN(before_loop, 1);
    RUN(before_return, 1);
    RUN(apart, 1);
    RUN(behind_call, 1);
    RUN(header, 1);
    RUN(last_block, 1);
    RUN(behind_barrier, 64);
    RUN(chosen, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(seen, words, sizeof seen, cudaMemcpyDeviceToHost));
    if (seen[SEEN] && seen[GOT] < 1) {
        std::fprintf(stderr, "the flag came before the message\n");
        return 1;
    }
    int turns = !strcmp(which, "unlock") ? n : 1;
    if (!strncmp(which, "lock", 4) || turns == n) EXPECT("count", seen[COUNT], 2 * turns);
    return 0;
}
