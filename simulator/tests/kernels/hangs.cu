// Launches that go on for ever, and launches that only look so. `a` and `b` are zero at first.
typedef unsigned u32;
#define SHARED(x) ((volatile u32 *)&(x))
#define V(x) (*(volatile u32 *)&(x))
#define KERNEL extern "C" __global__ void

// ---- For ever.

KERNEL flag_volatile(u32 *a, u32 *b, u32 n) { while (V(a[0]) == 0) {} b[0] = 1; }

KERNEL flag_atomic(u32 *a, u32 *b, u32 n) { while (atomicAdd(a, 0) == 0) {} b[0] = 1; }

KERNEL flag_acquire(u32 *a, u32 *b, u32 n)
{
    u32 seen;
    do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(a) : "memory"); while (seen == 0);
    b[0] = 1;
}

KERNEL flag_shared(u32 *a, u32 *b, u32 n)
{
    __shared__ u32 flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    while (V(flag) == 0) {}
    b[0] = 1;
}

KERNEL flag_weak(u32 *a, u32 *b, u32 n)
{
    u32 seen;
    do asm volatile("ld.global.u32 %0, [%1];" : "=r"(seen) : "l"(a)); while (seen == 0);
    b[0] = 1;
}

// Block 0 waits for block 1, which waits for block 0.
KERNEL each_other(u32 *a, u32 *b, u32 n)
{
    if (blockIdx.x == 0) { while (V(b[0]) == 0) {} V(a[0]) = 1; }
    else { while (V(a[0]) == 0) {} V(b[0]) = 1; }
}

KERNEL lock_kept(u32 *a, u32 *b, u32 n)
{
    while (atomicCAS(a, 0, 1) != 0) {}
    atomicAdd(b, 1);
}

KERNEL lock_kept_exchange(u32 *a, u32 *b, u32 n)
{
    while (atomicExch(a, 1) != 0) {}
    atomicAdd(b, 1);
}

KERNEL ticket_kept(u32 *a, u32 *b, u32 n)
{
    u32 ticket = atomicAdd(a, 1);
    while (V(b[0]) != ticket) {}
    if (ticket != 3) V(b[0]) = ticket + 1;
}

// A barrier of the grid, which not all blocks are resident for.
KERNEL grid_barrier(u32 *a, u32 *b, u32 n)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(a, 1);
        while (V(a[0]) < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    b[blockIdx.x] = 1;
}

KERNEL round_barrier(u32 *a, u32 *b, u32 n)
{
    __shared__ u32 seen;
    u32 done;
    do {
        if (threadIdx.x == 0) V(seen) = V(a[0]);
        __syncthreads();
        done = V(seen);
        __syncthreads();
    } while (done == 0);
    b[0] = 1;
}

KERNEL sleeper(u32 *a, u32 *b, u32 n)
{
    u32 ns = 8;
    while (V(a[0]) == 0) { __nanosleep(ns); if (ns < 256) ns *= 2; }
    b[0] = 1;
}

// Lane 1 would set the flag, but waits for lane 0 first.
KERNEL warp_barrier(u32 *a, u32 *b, u32 n)
{
    if (threadIdx.x == 0) while (V(a[0]) == 0) {}
    __syncwarp();
    if (threadIdx.x == 1) V(a[0]) = 1;
}

KERNEL shuffled(u32 *a, u32 *b, u32 n)
{
    u32 seen;
    do seen = __shfl_sync(~0u, threadIdx.x == 0 ? V(a[0]) : 7, 0); while (seen == 0);
    b[threadIdx.x] = 1;
}

__device__ __noinline__ bool try_lock(u32 *lock) { return atomicCAS(lock, 0, 1) == 0; }

KERNEL called(u32 *a, u32 *b, u32 n)
{
    while (!try_lock(a)) {}
    b[threadIdx.x] = 1;
}

// Each says that it is there by a store that nothing orders, and waits for the other: for ever, if stores may be late.
KERNEL no_fence(u32 *a, u32 *b, u32 n)
{
    u32 *mine = blockIdx.x ? a : b, *other = blockIdx.x ? b : a;
    mine[0] = 1;
    while (V(other[0]) == 0) {}
}

// It counts the rounds, so that nobody can say that it will not end.
KERNEL counting(u32 *a, u32 *b, u32 n)
{
    u32 rounds = 0;
    while (V(a[0]) == 0) rounds++;
    b[0] = rounds;
}

KERNEL timed(u32 *a, u32 *b, u32 n)
{
    long long last = 0;
    while (V(a[0]) == 0) last = clock64();
    b[0] = (u32)last;
}

// ---- They end.

__device__ u32 work(u32 n) { u32 x = n; for (u32 i = 0; i < n; i++) { x = x * 1664525 + 1013904223; asm volatile("" : "+r"(x)); } return x; }

KERNEL good_late_flag(u32 *a, u32 *b, u32 n)
{
    if (blockIdx.x == 0) { if (threadIdx.x == 0) { b[1] = work(100 * n); __threadfence(); V(a[0]) = 1; } }
    else while (V(a[0]) == 0) {}
}

KERNEL good_late_lane(u32 *a, u32 *b, u32 n)
{
    if (threadIdx.x == 0) { b[1] = work(20 * n); __threadfence(); V(a[0]) = 1; }
    else while (V(a[0]) == 0) {}
}

KERNEL good_gives_up(u32 *a, u32 *b, u32 n)
{
    for (u32 i = 0; i < n && V(a[0]) == 0; i++) {}
}

KERNEL good_gives_up_shared(u32 *a, u32 *b, u32 n)
{
    __shared__ u32 flag;
    V(flag) = 0;
    __syncthreads();
    for (u32 i = 0; i < n && V(flag) == 0; i++) {}
}

KERNEL good_gives_up_local(u32 *a, u32 *b, u32 n)
{
    volatile u32 left[1];
    left[0] = n;
    while (V(a[0]) == 0) { left[0] = left[0] - 1; if (left[0] == 0) break; }
}

KERNEL good_gives_up_pair(u32 *a, u32 *b, u32 n)
{
    u32 left = __shfl_sync(~0u, n, 0), lane = threadIdx.x & 31;
    for (;;) {
        // Lane 0 counts for all.
        if (lane == 0) left--;
        if (__shfl_sync(~0u, left, 0) == 0 || V(a[0]) != 0) break;
    }
}

KERNEL good_timeout(u32 *a, u32 *b, u32 n)
{
    long long start = clock64();
    while (V(a[0]) == 0) if (clock64() - start > 40ll * n) break;
}

KERNEL good_global_timer(u32 *a, u32 *b, u32 n)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (V(a[0]) == 0 && now - start < 40ull * n);
}

KERNEL good_lock(u32 *a, u32 *b, u32 n)
{
    for (int i = 0; i < 8; i++) {
        while (atomicCAS(a, 0, 1) != 0) {}
        __threadfence();
        V(b[0]) = V(b[0]) + 1;
        __threadfence();
        atomicExch(a, 0);
    }
}

KERNEL good_lock_slow(u32 *a, u32 *b, u32 n)
{
    while (atomicCAS(a, 0, 1) != 0) __nanosleep(100);
    __threadfence();
    V(b[0]) = V(b[0]) + 1;
    V(b[1]) = work(n);
    __threadfence();
    atomicExch(a, 0);
}

KERNEL good_ticket(u32 *a, u32 *b, u32 n)
{
    u32 ticket = atomicAdd(a, 1);
    while (V(b[0]) != ticket) {}
    __threadfence();
    V(b[1]) = work(n / 4);
    __threadfence();
    V(b[0]) = ticket + 1;
}

KERNEL good_cas_loop(u32 *a, u32 *b, u32 n)
{
    for (u32 i = 0; i < 64; i++) {
        u32 old = V(a[0]), seen;
        while ((seen = atomicCAS(a, old, old * 3 + 1)) != old) old = seen;
    }
}

KERNEL good_grid_barrier(u32 *a, u32 *b, u32 n)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) b[1] = work(50 * n);
        __threadfence();
        atomicAdd(a, 1);
        while (V(a[0]) < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
}

KERNEL good_chain(u32 *a, u32 *b, u32 n)
{
    if (threadIdx.x == 0) {
        if (blockIdx.x) while (V(a[blockIdx.x - 1]) == 0) {}
        __threadfence();
        b[blockIdx.x] = work(4 * n);
        __threadfence();
        V(a[blockIdx.x]) = 1;
    }
}

KERNEL good_round_barrier(u32 *a, u32 *b, u32 n)
{
    __shared__ u32 seen;
    u32 done;
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) { b[1] = work(50 * n); __threadfence(); V(a[0]) = 1; }
        return;
    }
    do {
        if (threadIdx.x == 0) V(seen) = V(a[0]);
        __syncthreads();
        done = V(seen);
        __syncthreads();
    } while (done == 0);
}

// The same value again and again, until it is another.
KERNEL good_rewritten(u32 *a, u32 *b, u32 n)
{
    if (blockIdx.x == 0) { if (threadIdx.x == 0) { for (u32 i = 0; i < n; i++) V(a[0]) = 0; V(a[0]) = 1; } }
    else while (V(a[0]) == 0) {}
}

// Two threads throw a ball, a third waits for the end.
KERNEL good_ball(u32 *a, u32 *b, u32 n)
{
    if (threadIdx.x) return;
    if (blockIdx.x < 2) {
        for (u32 i = blockIdx.x; i < 200; i += 2) { while (V(a[0]) != i) {} V(a[0]) = i + 1; }
    } else while (V(a[0]) != 200) {}
}

KERNEL good_shuffled(u32 *a, u32 *b, u32 n)
{
    if (blockIdx.x == 0) { if (threadIdx.x == 0) { b[1] = work(20 * n); __threadfence(); V(a[0]) = 1; } return; }
    u32 seen;
    do seen = __shfl_sync(~0u, (threadIdx.x & 31) == 0 ? V(a[0]) : 7, 0); while (seen == 0);
}

KERNEL good_called(u32 *a, u32 *b, u32 n)
{
    while (!try_lock(a)) {}
    b[threadIdx.x & 31] = work(n / 16);
    __threadfence();
    atomicExch(a, 0);
}

// Stores that are late for long, and come in the end.
KERNEL good_fenced(u32 *a, u32 *b, u32 n)
{
    u32 *mine = blockIdx.x ? a : b, *other = blockIdx.x ? b : a;
    V(mine[0]) = 1;
    while (V(other[0]) == 0) {}
}

// A warp barrier in the middle of waiting.
KERNEL good_warp_rounds(u32 *a, u32 *b, u32 n)
{
    if (blockIdx.x == 0) { if (threadIdx.x == 0) { b[1] = work(20 * n); __threadfence(); V(a[0]) = 1; } return; }
    while (V(a[0]) == 0) __syncwarp(__activemask());
}
