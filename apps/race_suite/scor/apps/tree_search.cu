// race: ptx=none barracuda=none hirace=race(write-read,intra-block/inter-block,46,45)+lines(46,45,53,60) scord=none | nodes wait on a stack of the block under a lock of block scope, or on one for all under a lock of device scope; HiRace knows no locks
// race RACE_1: ptx=race(write-write,inter-block,77,86)+lines(77,86) barracuda=none hirace=race(write-read,intra-block/inter-block,46,45)+lines(46,45,53,60,77,86) scord=race(write-write,inter-block,77,86)+lines(77,86,46,45,53,60) | the atomics of the lock for all are of block scope; BARRACUDA knows no scopes of atomics
// race RACE_2: ptx=none barracuda=race(write-read,inter-block,46,45)+lines(46,45,53,60) hirace=race(write-read,intra-block/inter-block,46,45)+lines(46,45,53,60) scord=race(write-read,inter-block,46,45)+lines(46,45,53,60) | the fences of the lock for all are of block scope; in PTX volatile accesses do not race
// race RACE_3: ptx=none barracuda=race(write-read,inter-block,46,45)+lines(46,45,53,60) hirace=race(write-read,intra-block/inter-block,46,45)+lines(46,45,53,60) scord=race(write-read,inter-block,46,45)+lines(46,45,53,60) | no fence before the lock for all is given back; in PTX volatile accesses do not race
// race RACE_4: ptx=none barracuda=race(write-read,intra-block,46,45)+lines(46,45,53,60) hirace=race(write-read,intra-block/inter-block,46,45)+lines(46,45,53,60) scord=race(write-read,intra-block,46,45)+lines(46,45,53,60) | no fence before the lock of the block is given back; in PTX volatile accesses do not race
// race RACE_5: ptx=race(write-write,inter-block,104,104) barracuda=none hirace=race(write-read,intra-block/inter-block,46,45)+race(write-write,inter-block,104,104)+lines(46,45,53,60) scord=race(write-write,inter-block,104,104) | nodes are counted by an atomic of block scope; BARRACUDA knows no scopes of atomics
// race RACE_6: ptx=race(write-write,inter-block,109,109) barracuda=none hirace=race(write-read,intra-block/inter-block,46,45)+race(write-write,inter-block,109,109)+lines(46,45,53,60) scord=race(write-write,inter-block,109,109) | the check sum is added up by an atomic of block scope; BARRACUDA knows no scopes of atomics
#include <cstdio>

const unsigned BLOCKS = 4, WARPS = 4, ROOTS = 16, DEPTH = 7, HERE = 16, MOST = 4096;

#ifdef RACE_1
#define common_cas atomicCAS_block
#define common_exch atomicExch_block
#else
#define common_cas atomicCAS
#define common_exch atomicExch
#endif
#ifdef RACE_2
#define common_fence __threadfence_block
#else
#define common_fence __threadfence
#endif

struct Stack {
    unsigned lock, top, node[MOST];
};

// A stack for each block's own warps, and one of each block for all.
__device__ Stack here[BLOCKS], common[BLOCKS];
__device__ unsigned visited, check;

// A node is its hash and, in the lowest four bits, its depth from 1.
__host__ __device__ unsigned child(unsigned node, unsigned number) {
    unsigned hash = (node + number * 16) * 2654435761u;
    return ((hash ^ hash >> 15) & ~15u) + (node & 15) + 1;
}

__host__ __device__ unsigned children(unsigned node) {
    return (node & 15) < DEPTH ? (node >> 9) % 5 : 0;
}

// Moves the top, unless it is at the end; says where it was.
__device__ unsigned move(volatile unsigned *top, unsigned end, int by) {
    unsigned at = *top;
    if (at != end) *top = at + by;
    return at;
}

__device__ bool push(Stack *stack, unsigned most, unsigned node) {
    unsigned at = move(&stack->top, most, 1);
    if (at == most) return false;
    *(volatile unsigned *)&stack->node[at] = node;
    return true;
}

// 0 if there is no node.
__device__ unsigned pop(Stack *stack) {
    unsigned at = move(&stack->top, 0, -1);
    return at == 0 ? 0 : *(volatile unsigned *)&stack->node[at - 1];
}

__device__ void lock_here() {
    while (atomicCAS_block(&here[blockIdx.x].lock, 0, 1) != 0) {
    }
    __threadfence_block();
}

__device__ void unlock_here() {
#ifndef RACE_4
    __threadfence_block();
#endif
    atomicExch_block(&here[blockIdx.x].lock, 0);
}

__device__ void lock_common(Stack *stack) {
    while (common_cas(&stack->lock, 0, 1) != 0) {
    }
    common_fence();
}

__device__ void unlock_common(Stack *stack) {
#ifndef RACE_3
    common_fence();
#endif
    common_exch(&stack->lock, 0);
}

// One lane of each warp works until it finds all stacks empty: whoever fills a stack looks at it again, so none is forgotten.
__global__ void search() {
    if (threadIdx.x % 32 != 0) return;
    while (true) {
        lock_here();
        unsigned node = pop(&here[blockIdx.x]);
        unlock_here();
        for (unsigned i = 0; i < BLOCKS && node == 0; i++) {
            Stack *stack = &common[(blockIdx.x + i) % BLOCKS];
            lock_common(stack);
            node = pop(stack);
            unlock_common(stack);
        }
        if (node == 0) break;
#ifdef RACE_5
        atomicAdd_block(&visited, 1);
#else
        atomicAdd(&visited, 1);
#endif
#ifdef RACE_6
        atomicAdd_block(&check, node);
#else
        atomicAdd(&check, node);
#endif
        for (unsigned number = 0; number < children(node); number++) {
            unsigned next = child(node, number);
            lock_here();
            bool room = push(&here[blockIdx.x], HERE, next);
            unlock_here();
            if (room) continue;
            lock_common(&common[blockIdx.x]);
            push(&common[blockIdx.x], MOST, next);
            unlock_common(&common[blockIdx.x]);
        }
    }
}

static void walk(unsigned node, unsigned *sums) {
    sums[0]++;
    sums[1] += node;
    for (unsigned number = 0; number < children(node); number++) walk(child(node, number), sums);
}

int main() {
    static Stack start[BLOCKS];
    unsigned expected[2] = {}, got[2] = {};
    for (unsigned i = 0; i < ROOTS; i++) {
        // The first blocks have most of the roots.
        Stack *stack = &start[i * i / ROOTS * BLOCKS / ROOTS];
        unsigned node = (i * 2654435761u & ~15u) + 1;
        stack->node[stack->top++] = node;
        walk(node, expected);
    }
    cudaMemcpyToSymbol(common, start, sizeof(start));
    search<<<BLOCKS, WARPS * 32>>>();
    cudaMemcpyFromSymbol(&got[0], visited, sizeof(unsigned));
    if (cudaMemcpyFromSymbol(&got[1], check, sizeof(unsigned)) != cudaSuccess) return 1;
    if (got[0] == expected[0] && got[1] == expected[1]) return 0;
    printf("%u nodes, check sum %x, instead of %u, %x\n", got[0], got[1], expected[0], expected[1]);
    return 1;
}
