// Prefix sum in one pass with decoupled look-back (Merrill and Garland), as in CUB: one tile a block, whose
// descriptor tells the blocks after it what it adds. The descriptors are initialised by the same kernel, so
// a software barrier over the grid (CUB's GridBarrier) comes first; all blocks must be resident at once.
// The variants differ in three fences: f1 in Sync, f2 in SetInclusive, f3 in SetPartial.
//
// As in the original there is no fence where flags and statuses are read: that what was published is then
// seen rests on the reads staying in program order. The block-scope fences of the waiting loops are the
// original's, too; no block needs them to see another's stores.
//
// The variant ptx_correct has the fences that the PTX memory model asks for instead. A flag releases what was done
// before a fence of the thread that sets it, which therefore stands between the block's barrier and the flag:
// f1, before the barrier, releases that thread's own stores alone. And whoever reads a flag or a status acquires with
// a fence behind it.

constexpr unsigned kThreads = 128;
constexpr unsigned kItems = 6;  // a thread's
constexpr unsigned kTileSize = kThreads * kItems;
constexpr unsigned kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffff;
constexpr unsigned kPatience = 1000;  // polls, see wait_for_status

enum Status : unsigned {
    kInvalid,    // nothing there yet
    kPartial,    // the sum of this tile alone
    kInclusive,  // the sum of this tile and all before it
    kLost,       // never in memory: what wait_for_status says of an overwritten descriptor
};

// One element a tile in each array. Values and statuses stand apart, as CUB has them for types
// that do not fit one word with their status: hence f2 and f3.
struct Tiles {
    volatile unsigned *status;
    unsigned *partial;
    unsigned *inclusive;
    unsigned *finished;  // the tile's block has ended; see wait_for_status
};

template <bool kPtx>
__device__ __forceinline__ void between_polls() {
    if constexpr (!kPtx) __threadfence_block();
}

// A barrier over the grid: what any block did before it, every block finds after it. A block reports in
// with its flag, which is zero before; block 0 waits for all flags and clears them, which lets the others go.
template <bool kFence1, bool kPtx>
__device__ __forceinline__ void Sync(volatile unsigned *flags) {
    if constexpr (kFence1) __threadfence();
    __syncthreads();
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) flags[0] = 1;
        __syncthreads();
        for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads) {
            while (flags[block] == 0) between_polls<kPtx>();
        }
        if constexpr (kPtx) __threadfence();
        __syncthreads();
        if constexpr (kPtx) __threadfence();
        for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads) {
            flags[block] = 0;
        }
    } else {
        if (threadIdx.x == 0) {
            if constexpr (kPtx) __threadfence();
            flags[blockIdx.x] = 1;
            while (flags[blockIdx.x] == 1) between_polls<kPtx>();
            if constexpr (kPtx) __threadfence();
        }
        __syncthreads();
    }
}

template <bool kFence2>
__device__ __forceinline__ void SetInclusive(Tiles tiles, unsigned tile, unsigned inclusive) {
    __stcg(&tiles.inclusive[tile], inclusive);
    if constexpr (kFence2) __threadfence();
    tiles.status[tile] = kInclusive;
}

template <bool kFence3>
__device__ __forceinline__ void SetPartial(Tiles tiles, unsigned tile, unsigned partial) {
    __stcg(&tiles.partial[tile], partial);
    if constexpr (kFence3) __threadfence();
    tiles.status[tile] = kPartial;
}

// The first status of a tile that is not kInvalid.
// Without f1 the initialisation of a descriptor can come so late that it overwrites a status; who still
// needed it would wait for ever. `finished` ends such a run with a wrong result: it is set by a release after
// the last status, so whoever acquired it and still finds kInvalid has proof. (The patience is for the
// paper's model, which delays stores past a release.)
template <bool kPtx>
__device__ __forceinline__ unsigned wait_for_status(Tiles tiles, unsigned tile) {
    unsigned status;
    unsigned finished = 0;
    unsigned late = 0;
    while ((status = tiles.status[tile]) == kInvalid) {
        if (finished != 0 && ++late > kPatience) return kLost;
        __nv_atomic_load(&tiles.finished[tile], &finished, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
        between_polls<kPtx>();
    }
    if constexpr (kPtx) __threadfence();
    return status;
}

// The sum of all tiles before this one: the first warp looks back over windows of 32 descriptors, up to the
// nearest that is inclusive.
template <bool kPtx>
__device__ __forceinline__ unsigned look_back(Tiles tiles, unsigned tile) {
    unsigned lane = threadIdx.x;
    unsigned exclusive = 0;
    for (int nearest = int(tile) - 1; nearest >= 0; nearest -= int(kLanes)) {
        int predecessor = nearest - int(lane);
        unsigned status = kInclusive;
        unsigned value = 0;
        if (predecessor >= 0) {
            status = wait_for_status<kPtx>(tiles, predecessor);
            if (status == kPartial) value = __ldcg(&tiles.partial[predecessor]);
            if (status == kInclusive) value = __ldcg(&tiles.inclusive[predecessor]);
        }
        unsigned inclusive = __ballot_sync(kAllLanes, status == kInclusive);
        unsigned behind = inclusive & ((1u << lane) - 1);
        if (behind != 0) value = 0;
        for (unsigned step = kLanes / 2; step > 0; step /= 2) {
            value += __shfl_xor_sync(kAllLanes, value, step);
        }
        exclusive += value;
        if (inclusive != 0) break;
    }
    return exclusive;
}

// What the threads before this one add up to; *sum becomes the sum of all.
__device__ __forceinline__ unsigned scan_block(unsigned value, unsigned *sum) {
    __shared__ unsigned of_warp[kThreads / kLanes];
    unsigned lane = threadIdx.x % kLanes;
    unsigned warp = threadIdx.x / kLanes;
    unsigned inclusive = value;
    for (unsigned step = 1; step < kLanes; step *= 2) {
        unsigned before = __shfl_up_sync(kAllLanes, inclusive, step);
        if (lane >= step) inclusive += before;
    }
    if (lane == kLanes - 1) of_warp[warp] = inclusive;
    __syncthreads();
    unsigned before = 0;
    *sum = 0;
    for (unsigned other = 0; other < kThreads / kLanes; other++) {
        if (other < warp) before += of_warp[other];
        *sum += of_warp[other];
    }
    return before + inclusive - value;
}

// output[i] = input[0] + … + input[i]. The arrays of `tiles` hold what an earlier run left there, but for
// `finished`, which is zero.
template <bool kFence1, bool kFence2, bool kFence3, bool kPtx = false>
__device__ __forceinline__ void scan(
    const unsigned *input, unsigned *output, volatile unsigned *flags, Tiles tiles, unsigned n) {
    __shared__ unsigned items[kTileSize];
    __shared__ unsigned shared_exclusive;
    unsigned tile = blockIdx.x;

    // Each block makes the next one's descriptor ready. The last thread does, because thread 0 has
    // f2 and f3 ahead of it, which must not stand in for f1.
    if (threadIdx.x == kThreads - 1) {
        unsigned *status = const_cast<unsigned *>(tiles.status);  // a plain store, as any initialisation
        status[(tile + 1) % gridDim.x] = kInvalid;
    }
    Sync<kFence1, kPtx>(flags);

    unsigned first = tile * kTileSize;
    for (unsigned item = threadIdx.x; item < kTileSize; item += kThreads) {
        items[item] = first + item < n ? input[first + item] : 0;
    }
    __syncthreads();
    unsigned sums[kItems];
    unsigned running = 0;
    for (unsigned item = 0; item < kItems; item++) {
        running += items[threadIdx.x * kItems + item];
        sums[item] = running;
    }
    unsigned sum_of_tile;
    unsigned before = scan_block(running, &sum_of_tile);

    if (threadIdx.x < kLanes) {
        if (threadIdx.x == 0 && tile != 0) SetPartial<kFence3>(tiles, tile, sum_of_tile);
        unsigned exclusive = look_back<kPtx>(tiles, tile);
        if (threadIdx.x == 0) {
            shared_exclusive = exclusive;
            SetInclusive<kFence2>(tiles, tile, exclusive + sum_of_tile);
        }
    }
    __syncthreads();

    before += shared_exclusive;
    for (unsigned item = 0; item < kItems; item++) {
        unsigned place = first + threadIdx.x * kItems + item;
        if (place < n) output[place] = before + sums[item];
    }
    if (threadIdx.x == 0) {
        unsigned yes = 1;
        __nv_atomic_store(&tiles.finished[tile], &yes, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    }
}

#define KERNEL(name, ...)                                                                                \
    extern "C" __global__ void name(const unsigned *input, unsigned *output, unsigned *flags,            \
                                    unsigned *status, unsigned *partial, unsigned *inclusive,            \
                                    unsigned *finished, unsigned n) {                                    \
        scan<__VA_ARGS__>(input, output, flags, {status, partial, inclusive, finished}, n);              \
    }

KERNEL(scan_original_all_3_fence, true, true, true)
KERNEL(scan_f1_f2_fence, true, true, false)
KERNEL(scan_f1_f3_fence, true, false, true)
KERNEL(scan_f2_f3_fence, false, true, true)
KERNEL(scan_no_fence, false, false, false)
KERNEL(scan_ptx_correct, false, true, true, true)
