// nvcc: -ptx -rdc=true -arch=compute_75

// Logging on the device: what injected code calls to tell the host what a warp's lanes do.
//
// Source: BARRACUDA (Eizenberg et al., PLDI 2017), section 4.2; src/logging.rs says where this departs, and how
// records lie in memory. The lanes that arrive together choose a leader, the leader takes a slot of the block's queue, all
// lanes write their words. Then the functions return: taking the ticket and raising the commit index is done by the
// injected code, next to the program's own instruction, so that hardly anything can come between ticket and instruction
// (device code that is stopped there would be told in the wrong order). Between a slot and its ticket other lanes may run.
//
// Rules for everything in here:
//  - Lanes arrive diverged. Who takes part in a record is said once, by activemask, behind the last wait; from there on
//    lanes are not parted: what only the leader does stands under a guard, not behind a branch.
//  - The host reads a record after it has seen the commit index that covers it (acquire), which the leader raises with
//    st.release.sys after all lanes have met at bar.warp.sync: so it sees what each lane wrote. The host's raising of the read
//    head (release) comes behind its reading, so that no record is overwritten before.
//  - Who waits does so behind a system fence, so that others get their turn on a virtual GPU as well.

#include "layout.h"

typedef unsigned int u32;
typedef unsigned long long u64;

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

struct __align__(16) Slot {
    u64 record;
    u64 queue;
    u64 next;
    u64 lanes;
};
static_assert(__builtin_offsetof(Slot, record) == BUGAROO_SLOT_RECORD, "record");
static_assert(__builtin_offsetof(Slot, queue) == BUGAROO_SLOT_QUEUE, "queue");
static_assert(__builtin_offsetof(Slot, next) == BUGAROO_SLOT_NEXT, "next");
static_assert(__builtin_offsetof(Slot, lanes) == BUGAROO_SLOT_LANES, "lanes");
static_assert(sizeof(Slot) == BUGAROO_SLOT_BYTES, "size");

extern "C" {
__constant__ Log __bugaroo_log;
}

// ---- what the compiler must neither reorder nor turn into branches

__device__ __forceinline__ u64 relaxed(u64 address) {
    u64 value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ u64 acquired(u64 address) {
    u64 value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ void put(u64 address, u64 value) {
    asm volatile("st.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

// By the lanes for which `mine` holds.
__device__ __forceinline__ void put_word(bool mine, u64 address, u32 value) {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %0, 0;\n\t@p st.global.u32 [%1], %2;\n\t}" ::"r"((u32)mine),
                 "l"(address), "r"(value)
                 : "memory");
}

// Whether the lane for which `mine` holds has raised a count from `old` by one.
__device__ __forceinline__ bool raised(bool mine, u64 address, u64 old) {
    u64 found = ~old;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\t@p atom.relaxed.gpu.global.cas.b64 %0, [%2], %3, %4;\n\t}"
                 : "+l"(found)
                 : "r"((u32)mine), "l"(address), "l"(old), "l"(old + 1)
                 : "memory");
    return found == old;
}

__device__ __forceinline__ u32 lane_id() {
    u32 lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__device__ __forceinline__ void give_way() {
    __threadfence_system();
    __nanosleep(100);
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

__device__ __forceinline__ u64 same_in_all(u32 lanes, u64 value) {
    u32 from = __ffs(lanes) - 1;
    u32 low = __shfl_sync(lanes, (u32)value, from);
    u32 high = __shfl_sync(lanes, (u32)(value >> 32), from);
    return (u64)high << 32 | low;
}

// ---- a record

// The place of a slot in a queue, for the lanes that are here together.
struct Taken {
    u32 lanes;
    bool leader;
    u64 queue;
    u64 slot;
};

// Waits for room and takes a slot.
__device__ __forceinline__ Taken take() {
    const Log &log = __bugaroo_log;
    // Neighbours go to different queues, and a grid's stride hits all of them.
    u32 number = (u32)((linear_block() * BUGAROO_GOLDEN) >> 32) % log.count;
    u64 write_head = log.control + BUGAROO_CONTROL_WRITE + (u64)number * BUGAROO_CONTROL_STRIDE;
    Taken taken;
    taken.queue = log.queues + number * log.stride;
    u32 lane = lane_id();
#pragma unroll 1
    for (;;) {
        u64 write = relaxed(write_head);
        u64 read = acquired(taken.queue + BUGAROO_QUEUE_READ);
        if (write - read >= log.capacity) {
            give_way();
            continue;
        }
        taken.lanes = __activemask();
        taken.leader = lane == __ffs(taken.lanes) - 1;
        taken.slot = write;
        bool won = raised(taken.leader, write_head, write);
        if (__any_sync(taken.lanes, won)) break;
    }
    // On hardware lanes may have seen different heads: the leader's counts.
    taken.slot = same_in_all(taken.lanes, taken.slot);
    return taken;
}

// Writes it, and waits until all earlier ones of the queue can be read.
__device__ __forceinline__ Slot fill(const Taken &taken, u32 place, u64 word) {
    const Log &log = __bugaroo_log;
    u64 record = taken.queue + BUGAROO_QUEUE_RECORDS + taken.slot % log.capacity * BUGAROO_RECORD_BYTES;
    put(record + 8 * lane_id(), word);
    put_word(taken.leader, record + BUGAROO_RECORD_LANES, taken.lanes);
    put_word(taken.leader, record + BUGAROO_RECORD_PLACE, place);
    u32 warp = (u32)(linear_block() * warps_of_block()) + warp_in_block();
    put_word(taken.leader, record + BUGAROO_RECORD_WARP, warp);
#pragma unroll 1
    while (acquired(taken.queue + BUGAROO_QUEUE_COMMIT) != taken.slot) give_way();
    __syncwarp(taken.lanes);
    Slot slot;
    slot.record = taken.leader ? record : 0;
    slot.queue = taken.queue;
    slot.next = taken.slot + 1;
    slot.lanes = taken.lanes;
    return slot;
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

// Tells what is no access.
__device__ __noinline__ Slot __bugaroo_tell(u32 place, u64 word) { return fill(take(), place, word); }

// Tells a load or an atomic.
__device__ __noinline__ Slot __bugaroo_tell_access(u32 place, u64 address) {
    return fill(take(), place, where(address));
}

// Tells a store.
__device__ __noinline__ Slot __bugaroo_tell_store(u32 place, u64 address, u64 a, u64 b, u64 c, u64 d) {
    Taken taken = take();
    u64 word = where(address);
    u32 peers = __match_any_sync(taken.lanes, address);
    u32 first = __ffs(peers) - 1;
    bool equal = true;
#pragma unroll
    for (u32 element = 0; element < 4; element++) {
        u64 value = element == 0 ? a : element == 1 ? b : element == 2 ? c : d;
        equal = equal & (__shfl_sync(taken.lanes, (u32)value, first) == (u32)value);
        equal = equal & (__shfl_sync(taken.lanes, (u32)(value >> 32), first) == (u32)(value >> 32));
    }
    u32 agree = __ballot_sync(taken.lanes, equal);
    bool all = (agree & peers) == peers;
    return fill(taken, place, all ? word | BUGAROO_WORD_SAME : word);
}
}
