// What a CTA holds back from the rest of the device: threads of one block see what its barriers and fences
// order, whoever wrote it, and other blocks see it once somebody who is ordered after it says so.
// Block 0 has a writer (thread 0) and a witness (thread 32, in another warp), block 1 a reader.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;

static __device__ bool writer() { return blockIdx.x == 0 && threadIdx.x == 0; }
static __device__ bool witness() { return blockIdx.x == 0 && threadIdx.x == 32; }
static __device__ bool reader() { return blockIdx.x == 1 && threadIdx.x == 0; }
static __device__ int now(const int *data) { return *(const volatile int *)data; }

static __device__ int acquire_cta(const int *flag) {
    int seen;
    asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    return seen;
}

// The reader's part: wait for the flag, then read.
static __device__ void read_behind(const int *data, const volatile int *flag, int *out) {
    if (!reader()) return;
    while (*flag == 0) {
    }
    __threadfence();
    out[1] = now(data);
}

// A fence after a barrier covers what others wrote before it.
extern "C" __global__ void fence_of_another(int *data, volatile int *flag, int *out) {
    if (writer()) *data = 42;
    __syncthreads();
    if (witness()) {
        out[0] = now(data);
        __threadfence();
        *flag = 1;
    }
    read_behind(data, flag, out);
}

// The store is strong, and what tells of it comes at once, as an atomic.
extern "C" __global__ void strong_store_then_ticket(volatile int *data, int *flag, int *out) {
    if (writer()) {
        *data = 42;
        __threadfence();
        atomicExch(flag, 1);
    }
    if (witness()) {
        while (atomicAdd(flag, 0) == 0) {
        }
        out[0] = *data;
    }
    if (reader()) {
        while (atomicAdd(flag, 0) == 0) {
        }
        out[1] = *data;
    }
}

// A release covers what others wrote before the barrier, too.
extern "C" __global__ void release_of_another(int *data, int *flag, int *out) {
    if (writer()) *data = 42;
    __syncthreads();
    if (witness()) {
        out[0] = now(data);
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    }
    read_behind(data, flag, out);
}

// The witness learns of the store by a flag behind a fence of the block's scope.
extern "C" __global__ void fence_block_then_fence(int *data, volatile int *flag, int *out) {
    if (writer()) {
        *data = 42;
        __threadfence_block();
        flag[1] = 1;
    }
    if (witness()) {
        while (flag[1] == 0) {
        }
        __threadfence_block();
        out[0] = now(data);
        __threadfence();
        *flag = 1;
    }
    read_behind(data, flag, out);
}

// The same, with acquire and release in place of the fences.
extern "C" __global__ void acquire_then_release(int *data, int *flag, int *out) {
    if (writer()) {
        *data = 42;
        asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(flag + 1) : "memory");
    }
    if (witness()) {
        while (acquire_cta(flag + 1) == 0) {
        }
        out[0] = now(data);
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(flag) : "memory");
    }
    read_behind(data, flag, out);
}

// A fence of the block's scope, then an acquire without one.
extern "C" __global__ void fence_block_then_acquire(int *data, int *flag, int *out) {
    if (writer()) {
        *data = 42;
        __threadfence_block();
        *(volatile int *)(flag + 1) = 1;
    }
    if (witness()) {
        while (acquire_cta(flag + 1) == 0) {
        }
        out[0] = now(data);
        __threadfence();
        *(volatile int *)flag = 1;
    }
    read_behind(data, flag, out);
}

// Wrong: no fence of the device's scope anywhere. The witness sees the store, the reader may not.
extern "C" __global__ void ticket_behind_barrier(int *data, int *flag, int *out) {
    if (writer()) *data = 42;
    __syncthreads();
    if (witness()) out[0] = now(data);
    if (writer()) atomicAdd(flag, 1);
    __syncthreads();
    read_behind(data, flag, out);
}

// Between threads of one block; the block's scope is enough.
extern "C" __global__ void message_within(int *data, volatile int *flag, int *out) {
    if (writer()) {
        *data = 42;
        __threadfence();
        *flag = 1;
    }
    if (witness()) {
        while (*flag == 0) {
        }
        __threadfence();
        out[0] = now(data);
        out[1] = out[0];
    }
}

// Same bytes, one writer after the other.
extern "C" __global__ void one_after_the_other(int *data, int *flag, int *out) {
    if (blockIdx.x != 0) return;
    if (writer()) data[0] = 1, data[1] = 0x01020304, data[2] = 5;
    __syncthreads();
    if (witness()) data[0] = 2, ((u8 *)data)[5] = 9, out[0] = atomicAdd(data + 2, 10);
    __syncthreads();
    out[8 + threadIdx.x * 4] = now(data);
    out[9 + threadIdx.x * 4] = now(data + 1);
    out[10 + threadIdx.x * 4] = now(data + 2);
    out[11 + threadIdx.x * 4] = (int)(*(volatile u64 *)data >> 32);
}

// A reader in another block who spins on a plain store, which a barrier alone lies behind, ends.
extern "C" __global__ void plain_handshake(int *data, volatile int *flag, int *out) {
    if (writer()) *data = 1;
    if (blockIdx.x == 0) __syncthreads();
    if (writer()) {
        while (*flag == 0) {
        }
        out[0] = 42;
    }
    if (reader()) {
        while (now(data) == 0) {
        }
        *flag = 1;
        out[1] = 42;
    }
}

// A program without races, read from a table: in each phase every thread has a cell of eight bytes to
// itself, and a barrier ends the phase. Operation: what (low bits), offset in the cell, value.
extern "C" __global__ void phases(u8 *cells, const u32 *table, u64 *sums, u32 count) {
    u32 n = blockDim.x;
    u64 sum = 1;
    u8 *own = cells + blockIdx.x * n * 8;
    for (u32 phase = 0; phase < count; phase++) {
        const u32 *row = table + phase * (n + 2);
        u8 *cell = own + (threadIdx.x * (row[0] | 1) + row[1]) % n * 8;
        u32 operation = row[2 + threadIdx.x];
        u64 value = (u64)operation * 0x9e3779b97f4a7c15ull + sum;
        u32 offset = operation >> 8 & 7;
        switch (operation & 15) {
        case 0: cell[offset] = (u8)value; break;
        case 1: *(u16 *)(cell + (offset & 6)) = (u16)value; break;
        case 2:
        case 3: *(u32 *)(cell + (offset & 4)) = (u32)value; break;
        case 4:
        case 5: *(u64 *)cell = value; break;
        case 6: *(uint2 *)cell = make_uint2((u32)value, (u32)(value >> 32)); break;
        case 7: sum = sum * 31 + cell[offset]; break;
        case 8: sum = sum * 31 + *(volatile u32 *)(cell + (offset & 4)); break;
        case 9:
        case 10: sum = sum * 31 + *(u64 *)cell; break;
        case 11: sum = sum * 31 + atomicAdd((u32 *)(cell + (offset & 4)), (u32)value); break;
        case 12: *(volatile u32 *)(cell + (offset & 4)) = (u32)value; break;
        case 13: *(u32 *)(cell + (offset & 4)) = (u32)value; __threadfence_block(); break;
        case 14: *(u16 *)(cell + (offset & 6)) = (u16)value; __threadfence(); break;
        default: break;
        }
        __syncthreads();
    }
    sums[blockIdx.x * n + threadIdx.x] = sum;
}
