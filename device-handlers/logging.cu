// nvcc: -ptx -rdc=true -arch=compute_75

// Logging on the device: what injected code calls to tell the host what a warp's lanes do.
//
// Source: BARRACUDA (Eizenberg et al., PLDI 2017), section 4.2; src/logging.rs says where this departs, and how
// records lie in memory. These functions do what may take time, or parts lanes: they wait until the block's queue has room, and work
// out what each lane has to tell. Then they return. To choose a leader, to take a slot, to write, to take the ticket and to commit
// is the injected code's, in one piece beside the program's own instruction: nothing may come between ticket and instruction.
//
// Rules for everything in here:
//  - Lanes arrive diverged. Who belongs together is said once, by activemask, behind the last wait; from there on lanes are not
//    parted. The injected code asks whether the same lanes are together still, and calls again where they are not: what was worked
//    out (whether lanes agree on a value) holds for just these.
//  - Nothing is reserved here. The room that was seen may be gone when the injected code takes a slot; then it calls again.
//  - Who waits does so behind a system fence, so that others get their turn on a virtual GPU as well.

#include "logging_layout.h"
#include "words.cuh"

struct Log {
    u64 queues;
    u64 control;
    u64 stride;
    u32 count;
    u32 capacity;
};
#define AT(field) static_assert(__builtin_offsetof(Log, field) == BUGAROO_LOG_OFFSET_##field, #field)
AT(queues);
AT(control);
AT(stride);
AT(count);
AT(capacity);
static_assert(sizeof(Log) == BUGAROO_LOG_BYTES, "size");

struct __align__(16) Prepared {
    u64 queue;
    u64 write;
    u64 word;
    u32 lanes;
    u32 warp;
};
#undef AT
#define AT(field, name) static_assert(__builtin_offsetof(Prepared, field) == BUGAROO_PREPARED_##name, #field)
AT(queue, QUEUE);
AT(write, WRITE);
AT(word, WORD);
AT(lanes, LANES);
AT(warp, WARP);
static_assert(sizeof(Prepared) == BUGAROO_PREPARED_BYTES, "size");

extern "C" {
__constant__ Log __bugaroo_log;
}

// ---- the host's word

// How far the host has read.
__device__ __forceinline__ u64 acquired_from_host(u64 address) {
    u64 value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

// ---- who

__device__ __forceinline__ u64 linear_block() {
    return ((u64)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

__device__ __forceinline__ u32 warp_in_block() {
    return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / 32;
}

__device__ __forceinline__ u32 warps_of_block() {
    return (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
}

// ---- a record

// Waits until the block's queue has room; says where, and who is here together.
__device__ __forceinline__ Prepared wait_for_room() {
    const Log &log = __bugaroo_log;
    // Neighbours go to different queues, and a grid's stride hits all of them.
    u32 number = (u32)((linear_block() * BUGAROO_GOLDEN) >> 32) % log.count;
    Prepared prepared;
    prepared.queue = log.queues + number * log.stride;
    prepared.write = log.control + BUGAROO_CONTROL_WRITE + (u64)number * BUGAROO_CONTROL_STRIDE;
    prepared.warp = (u32)(linear_block() * warps_of_block()) + warp_in_block();
#pragma unroll 1
    while (relaxed(prepared.write) - acquired_from_host(prepared.queue + BUGAROO_QUEUE_READ) >= log.capacity) give_way();
    prepared.lanes = __activemask();
    return prepared;
}

// Where a lane goes. Lanes of a generic access may go to different memories, and are not parted for it.
__device__ __forceinline__ u64 where(u64 address) {
    u64 word;
    asm("{\n\t.reg .pred p;\n\t.reg .b64 w;\n\tcvta.to.shared.u64 w, %1;\n\tor.b64 w, w, %2;\n\tisspacep.shared p, %1;\n\t"
        "selp.b64 w, w, %3, p;\n\tisspacep.local p, %1;\n\tselp.b64 %0, %4, w, p;\n\t}"
        : "=l"(word)
        : "l"(address), "l"(BUGAROO_WORD_SHARED), "l"(address & BUGAROO_WORD_ADDRESS), "l"(BUGAROO_WORD_PRIVATE));
    return word;
}

extern "C" {

// For what is no access.
__device__ __noinline__ Prepared __bugaroo_prepare(u64 word) {
    Prepared prepared = wait_for_room();
    prepared.word = word;
    return prepared;
}

// For a load or an atomic.
__device__ __noinline__ Prepared __bugaroo_prepare_access(u64 address) {
    Prepared prepared = wait_for_room();
    prepared.word = where(address);
    return prepared;
}

// For a store.
__device__ __noinline__ Prepared __bugaroo_prepare_store(u64 address, u64 a, u64 b, u64 c, u64 d) {
    Prepared prepared = wait_for_room();
    u64 word = where(address);
    u32 lanes = prepared.lanes;
    u32 peers = __match_any_sync(lanes, address);
    u32 first = __ffs(peers) - 1;
    bool equal = true;
#pragma unroll
    for (u32 element = 0; element < 4; element++) {
        u64 value = element == 0 ? a : element == 1 ? b : element == 2 ? c : d;
        equal = equal & (__shfl_sync(lanes, (u32)value, first) == (u32)value);
        equal = equal & (__shfl_sync(lanes, (u32)(value >> 32), first) == (u32)(value >> 32));
    }
    u32 agree = __ballot_sync(lanes, equal);
    bool all = (agree & peers) == peers;
    prepared.word = all ? word | BUGAROO_WORD_SAME : word;
    return prepared;
}
}
