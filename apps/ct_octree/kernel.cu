// Octree partitioning of particles by blocks that steal work from each other, after Cederman and
// Tsigas, "On dynamic load balancing on graphics processors" (Graphics Hardware 2008), whose push()
// lacks a fence. The variants differ in that fence alone.
//
// A task is a cell of the tree with a range of slots that hold its particles. A block takes a task from
// its own deque or steals one, sorts the cell's particles in place by child, and pushes the children that
// have too many; the others are leaves. Every slot says which cell it belongs to, so the slots are the tree.
//
// Departures from the paper: a deque's head, tail and counter share one 64-bit word, so that owner and
// thieves meet at one address and only push() needs a fence (with two words, pop() needs one as well,
// between its store of the tail and its load of the head). An index that was stolen is not used again.
// And the blocks leave when no task is open, which holds in the end whatever a stale task says.

#include <cuda/atomic>

using Word = unsigned long long;

template <typename T>
using Atomic = cuda::atomic_ref<T, cuda::thread_scope_device>;

constexpr auto kRelaxed = cuda::memory_order_relaxed;
constexpr auto kAcquire = cuda::memory_order_acquire;

// ---- what host and device share; main.rs says the same

// A cell: slots [first, first + count), depth, and its code: a 1, then three bits a level from the root.
struct alignas(16) Task {
    unsigned first;
    unsigned count;
    unsigned code;
    unsigned depth;
};

struct Control {
    unsigned open;    // tasks that are in a deque or being worked on
    unsigned failed;  // not 0: a block met what cannot be, and all leave
    unsigned pushes;
    unsigned steals;
};

// A slot holds a particle's number and, in its high half, the code of the cell that the particle was put in.
using Slot = Word;
// A slot whose particle is under way; its code is no cell's, and its number no particle's.
constexpr Slot kHole = ~0ull;

__device__ __forceinline__ Slot slot_of(unsigned code, unsigned particle) { return Slot(code) << 32 | particle; }
__device__ __forceinline__ unsigned code_in(Slot slot) { return unsigned(slot >> 32); }
__device__ __forceinline__ unsigned particle_in(Slot slot) { return unsigned(slot); }

// A coordinate has 16 bits; the three of a particle stand in one word.
constexpr unsigned kCoordinateBits = 16;

// ---- deques

// A deque's word: tail, head and, against ABA, a counter of pops.
constexpr unsigned kIndexBits = 20;
constexpr Word kIndexMask = (1ull << kIndexBits) - 1;
constexpr Word kTailStep = 1;
constexpr Word kHeadStep = 1ull << kIndexBits;
constexpr Word kCounterStep = 1ull << 2 * kIndexBits;

__device__ __forceinline__ unsigned tail_of(Word word) { return unsigned(word & kIndexMask); }
__device__ __forceinline__ unsigned head_of(Word word) { return unsigned(word >> kIndexBits & kIndexMask); }

struct Deques {
    Word *words;     // one a block
    Task *elements;  // `capacity` a block
    unsigned capacity;
};

// Appends a task to the own block's deque; false when that is full. What the block's other threads wrote
// before a barrier that the caller has passed is published with it: fences are cumulative. A thief may read the
// element meanwhile: with plain stores that is a data race, though the thief does not use what it has read.
template <bool kFence, bool kStrong>
__device__ __forceinline__ bool push(const Deques &deques, const Task &task) {
    Atomic<Word> word(deques.words[blockIdx.x]);
    unsigned tail = tail_of(word.load(kRelaxed));
    if (tail >= deques.capacity) return false;
    Task &element = deques.elements[blockIdx.x * deques.capacity + tail];
    if constexpr (kStrong) {
        Atomic<unsigned>(element.first).store(task.first, kRelaxed);
        Atomic<unsigned>(element.count).store(task.count, kRelaxed);
        Atomic<unsigned>(element.code).store(task.code, kRelaxed);
        Atomic<unsigned>(element.depth).store(task.depth, kRelaxed);
    } else {
        element = task;
    }
    if constexpr (kFence) __threadfence();
    word.fetch_add(kTailStep, kRelaxed);
    return true;
}

// Takes the newest task of the own deque. The counter goes up, so that a thief who has read the old
// element at this index loses its exchange even if another is pushed there.
__device__ __forceinline__ bool pop(const Deques &deques, Task &task) {
    Atomic<Word> word(deques.words[blockIdx.x]);
    Word seen = word.load(kRelaxed);
    while (head_of(seen) < tail_of(seen)) {
        if (word.compare_exchange_strong(seen, seen - kTailStep + kCounterStep, kRelaxed)) {
            task = deques.elements[blockIdx.x * deques.capacity + tail_of(seen) - 1];
            return true;
        }
    }
    return false;
}

// Takes the oldest task of another block's deque. The loads are strong, as the owner may write a new
// element there meanwhile; the exchange then fails, and what was read is not used.
__device__ __forceinline__ bool steal(const Deques &deques, unsigned victim, Task &task) {
    Atomic<Word> word(deques.words[victim]);
    Word seen = word.load(kAcquire);
    if (head_of(seen) >= tail_of(seen)) return false;
    Task &element = deques.elements[victim * deques.capacity + head_of(seen)];
    task.first = Atomic<unsigned>(element.first).load(kRelaxed);
    task.count = Atomic<unsigned>(element.count).load(kRelaxed);
    task.code = Atomic<unsigned>(element.code).load(kRelaxed);
    task.depth = Atomic<unsigned>(element.depth).load(kRelaxed);
    return word.compare_exchange_strong(seen, seen + kHeadStep, kRelaxed);
}

// ---- the tree

struct Tree {
    Slot *slots;
    const Word *positions;
    Control *control;
    unsigned particles;
    unsigned leaf_limit;  // particles of a leaf above the last level
    unsigned max_depth;
};

__device__ __forceinline__ void fail(const Tree &tree) { Atomic<unsigned>(tree.control->failed).fetch_or(1, kRelaxed); }

// Whether a task can be one of this tree's.
__device__ __forceinline__ bool is_sane(const Tree &tree, const Task &task) {
    return task.depth < tree.max_depth && task.code >> 3 * task.depth == 1 && task.count != 0 &&
           task.count <= tree.particles && task.first <= tree.particles - task.count;
}

// The next task of this block, or false when it is to leave.
__device__ __forceinline__ bool take(const Tree &tree, const Deques &deques, Task &task) {
    Control &control = *tree.control;
    bool found = pop(deques, task);
    while (!found) {
        if (Atomic<unsigned>(control.open).load(kRelaxed) == 0) return false;
        if (Atomic<unsigned>(control.failed).load(kRelaxed) != 0) return false;
        unsigned victim = blockIdx.x;
        for (unsigned others = gridDim.x - 1; others != 0 && !found; others--) {
            victim = victim + 1 == gridDim.x ? 0 : victim + 1;
            found = steal(deques, victim, task);
        }
        if (found) Atomic<unsigned>(control.steals).fetch_add(1, kRelaxed);
    }
    if (is_sane(tree, task) && Atomic<unsigned>(control.failed).load(kRelaxed) == 0) return true;
    fail(tree);
    return false;
}

// Which child of a cell at `depth` a particle belongs to.
__device__ __forceinline__ unsigned child_of(Word position, unsigned depth) {
    unsigned bit = kCoordinateBits - 1 - depth;
    return unsigned(position >> bit & 1 | position >> (bit + kCoordinateBits - 1) & 2 |
                    position >> (bit + 2 * kCoordinateBits - 2) & 4);
}

// How far a block is with its cell, in shared memory.
struct Cell {
    Task task;
    bool found;
    unsigned count[8];  // particles of each child
    unsigned next[8];   // the slot that a child's next particle goes to
    unsigned end[8];    // the end of a child's slots
    unsigned pending;   // children to push
    Task children[8];
};

__device__ __forceinline__ void count_children(const Tree &tree, Cell &cell) {
    const Task task = cell.task;
    for (unsigned i = threadIdx.x; i < task.count; i += blockDim.x) {
        Slot held = Atomic<Slot>(tree.slots[task.first + i]).load(kRelaxed);
        if (code_in(held) == task.code && particle_in(held) < tree.particles) {
            atomicAdd(&cell.count[child_of(tree.positions[particle_in(held)], task.depth)], 1u);
        } else {
            fail(tree);
        }
    }
}

// One thread a child: where its slots are, and whether it is to be pushed.
__device__ __forceinline__ void settle_child(const Tree &tree, Cell &cell, unsigned which) {
    Task child = cell.task;
    for (unsigned before = 0; before < which; before++) child.first += cell.count[before];
    child.count = cell.count[which];
    child.code = child.code << 3 | which;
    child.depth++;
    cell.next[which] = child.first;
    cell.end[which] = child.first + child.count;
    if (child.count > tree.leaf_limit && child.depth < tree.max_depth) {
        cell.children[atomicAdd(&cell.pending, 1u)] = child;
    }
}

// In place: a thread lifts a particle that still stands where the parent's were, puts it into its
// child's next slot, goes on with the one that it finds there, and ends at a hole that somebody lifted
// a particle from. A child hands every slot out once, so the particles of the cell bound the steps.
__device__ __forceinline__ void move_particles(const Tree &tree, Cell &cell) {
    const Task task = cell.task;
    for (unsigned i = threadIdx.x; i < task.count; i += blockDim.x) {
        Atomic<Slot> from(tree.slots[task.first + i]);
        Slot held = from.load(kRelaxed);
        if (code_in(held) != task.code) continue;
        if (!from.compare_exchange_strong(held, kHole, kRelaxed)) continue;
        while (held != kHole) {
            unsigned particle = particle_in(held);
            if (particle >= tree.particles) {
                fail(tree);
                break;
            }
            unsigned child = child_of(tree.positions[particle], task.depth);
            unsigned place = atomicAdd(&cell.next[child], 1u);
            if (place >= cell.end[child]) {
                fail(tree);
                break;
            }
            held = Atomic<Slot>(tree.slots[place]).exchange(slot_of(task.code << 3 | child, particle), kRelaxed);
        }
    }
}

// Thread 0 of a block is the one that deals with the deques; the root is the first block's first push.
template <bool kFence, bool kStrong>
__device__ __forceinline__ void partition(const Tree &tree, const Deques &deques) {
    __shared__ Cell cell;
    if (threadIdx.x == 0) {
        cell.pending = blockIdx.x == 0 ? 1 : 0;
        cell.children[0] = Task{0, tree.particles, 1, 0};
    }
    while (true) {
        if (threadIdx.x == 0) {
            unsigned pending = cell.pending;
            if (pending != 0) Atomic<unsigned>(tree.control->pushes).fetch_add(pending, kRelaxed);
#pragma unroll 1
            for (unsigned child = 0; child < pending; child++) {
                if (!push<kFence, kStrong>(deques, cell.children[child])) fail(tree);
            }
            cell.pending = 0;
            Task task;
            cell.found = take(tree, deques, task);
            cell.task = task;
        }
        if (threadIdx.x < 8) cell.count[threadIdx.x] = 0;
        __syncthreads();
        if (!cell.found) return;
        count_children(tree, cell);
        __syncthreads();
        if (threadIdx.x < 8) settle_child(tree, cell, threadIdx.x);
        __syncthreads();
        move_particles(tree, cell);
        __syncthreads();
        // The children are open before one of them can be taken, and this task no longer is.
        if (threadIdx.x == 0) Atomic<unsigned>(tree.control->open).fetch_add(cell.pending - 1, kRelaxed);
    }
}

#define OCTREE(NAME, FENCE, STRONG)                                                                              \
    extern "C" __global__ void octree_##NAME(Slot *slots, const Word *positions, Control *control,             \
                                             Word *words, Task *elements, unsigned particles,                  \
                                             unsigned leaf_limit, unsigned max_depth, unsigned capacity) {     \
        partition<FENCE, STRONG>(Tree{slots, positions, control, particles, leaf_limit, max_depth},                    \
                         Deques{words, elements, capacity});                                                   \
    }

OCTREE(original_no_fence, false, false)
OCTREE(1_fence, true, false)

// A thief's load of the deque's word is an acquire, so the PTX memory model asks for no other fence.
OCTREE(ptx_correct, true, true)
