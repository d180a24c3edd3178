// Five more kernels of the kind that `kernel.cu` has. Exploration was not shaped after them: what it does about them shows whether it
// was shaped after the first ten.

#include "parts.cuh"

// A barrier of three parts. Who waits has to look at the generation before it is counted: behind that, the last one may have come. Without
// a fence the look itself may come late.
template <bool kFixed>
__device__ __forceinline__ void late_look_of(Word *memory, Word *) {
    Word *count = memory, *generation = memory + 1;
    for (int round = 0; round < 2; round++) {
        work(memory + 16 + blockIdx.x, 12 + 24 * blockIdx.x);
        Word before = kFixed ? look(generation) : 0;
        fence_if<kFixed>();
        bool last = atomicAdd(count, 1) == 2;
        if (!kFixed) before = look(generation);
        if (last) {
            atomicExch(count, 0);
            __threadfence();
            atomicAdd(generation, 1);
        } else {
            while (look(generation) == before) {
            }
        }
        __threadfence();
    }
}

// A reader that names the node it uses, so that nobody clears it, and does not ask again whether it is the one in use still.
// memory[0]: the node in use, memory[1]: the node that is named, memory[4 + i]: what node i holds.
template <bool kFixed>
__device__ __forceinline__ void hazard_of(Word *memory, Word *wrong) {
    Word *head = memory, *named = memory + 1, *nodes = memory + 4;
    if (blockIdx.x == 0) {
        work(memory + 16, 8);
        Word node = now(head);
        atomicExch(named, node);
        __threadfence();
        if (kFixed && now(head) != node) return;
        if (look(nodes + node) == 0) *wrong = 1;
        __threadfence();
        atomicExch(named, 0);
    } else {
        work(memory + 17, 40);
        Word old = atomicExch(head, 2);
        __threadfence();
        if (now(named) != old) put(nodes + old, 0);
    }
}

// A batch of four items, each with a mark that it is there, without a fence between. The reader trusts the marks.
template <bool kFixed>
__device__ __forceinline__ void marks_of(Word *memory, Word *wrong) {
    Word *items = memory, *marks = memory + 4;
    if (blockIdx.x == 0) {
#pragma unroll 1
        for (int i = 0; i < 4; i++) {
            items[i] = 3;
            fence_if<kFixed>();
            put(marks + i, 1);
        }
        work(memory + 16, 8);
    } else {
        work(memory + 17, 16);
        int there = 0, right = 0;
#pragma unroll 1
        for (int i = 0; i < 4; i++) there += look(marks + i);
        __threadfence();
#pragma unroll 1
        for (int i = 0; i < 4; i++) right += items[i] == 3;
        if (there == 4 && right == 0) *wrong = 1;
    }
}

// Two that announce themselves and go on only if the other has not: each has to look behind a fence.
template <bool kFixed>
__device__ __forceinline__ void both_in_of(Word *memory, Word *wrong) {
    Word *own = memory + blockIdx.x, *other = memory + 1 - blockIdx.x, *inside = memory + 2;
    work(memory + 16 + blockIdx.x, 30 * blockIdx.x);
    put(own, 1);
    fence_if<kFixed>();
    if (look(other) == 0 && atomicAdd(inside, 1) != 0) *wrong = 1;
}

// Two copies of a pair of words. A writer changes the one that is not in use, when nobody reads it any more, and then puts it to use.
// A reader that has counted itself has to ask again whether it is the one in use still.
template <bool kFixed>
__device__ __forceinline__ void two_copies_of(Word *memory, Word *wrong) {
    Word *used = memory, *readers = memory + 1, *copies = memory + 4;
    if (blockIdx.x == 0) {
        for (Word round = 1; round <= 3; round++) {
            Word copy = round & 1;
            work(memory + 16, 20);
            while (now(readers + copy) != 0) {
            }
            __threadfence();
            put(copies + 2 * copy, round);
            put(copies + 2 * copy + 1, round);
            __threadfence();
            atomicExch(used, copy);
        }
    } else {
        work(memory + 17, 10);
        Word copy = now(used);
        atomicAdd(readers + copy, 1);
        __threadfence();
        if (!kFixed || now(used) == copy) {
            __threadfence();
            Word one = look(copies + 2 * copy), other = look(copies + 2 * copy + 1);
            if (one != other) *wrong = 1;
        }
        __threadfence();
        atomicSub(readers + copy, 1);
    }
}

BUG(late_look)
BUG(hazard)
BUG(marks)
BUG(both_in)
BUG(two_copies)
