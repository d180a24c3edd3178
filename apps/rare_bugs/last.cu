// Three more kernels of the kind that `kernel.cu` has. They were written before exploration was changed for the last time, and measured
// when that was done: what it does about them shows whether it was shaped after the others.

#include "parts.cuh"

// A queue with two ends: its owner takes items from the bottom, a thief from the top. For the last item they compare and swap the top.
// Between putting the bottom down and looking at the top the owner needs a fence.
// memory[0]: top, memory[1]: bottom, memory[16 + i]: how often item i was taken.
template <bool kFixed>
__device__ __forceinline__ void steal_of(Word *memory, Word *) {
    Word *top = memory, *bottom = memory + 1, *taken = memory + 16;
    if (blockIdx.x == 0) {
        work(memory + 8, 18);
        Word last = look(bottom) - 1;
        put(bottom, last);
        fence_if<kFixed>();
        Word first = look(top);
        if (first < last) {
            atomicAdd(taken + last, 1);
        } else if (first == last) {
            if (atomicCAS(top, first, first + 1) == first) atomicAdd(taken + last, 1);
            put(bottom, last + 1);
        } else {
            put(bottom, last + 1);
        }
    } else {
        work(memory + 9, 6);
        for (int i = 0; i < 2; i++) {
            Word first = now(top);
            __threadfence();
            if (first < now(bottom) && atomicCAS(top, first, first + 1) == first) atomicAdd(taken + first, 1);
        }
    }
}

// One word for messages to two readers. The next message comes when both have said that they have the last one: they say so before they
// have read it.
template <bool kFixed>
__device__ __forceinline__ void early_ack_of(Word *memory, Word *wrong) {
    Word *epoch = memory, *acks = memory + 1, *message = memory + 2;
    for (Word round = 1; round <= 3; round++) {
        if (blockIdx.x == 0) {
            work(memory + 16, 12);
            put(message, 10 * round);
            __threadfence();
            put(epoch, round);
            while (now(acks) != 2 * round) {
            }
            __threadfence();
        } else {
            work(memory + 16 + blockIdx.x, 30 * blockIdx.x);
            while (look(epoch) < round) {
            }
            __threadfence();
            if (!kFixed) atomicAdd(acks, 1);
            Word there = look(message);
            __threadfence();
            if (kFixed) atomicAdd(acks, 1);
            if (there != 10 * round) *wrong = 1;
        }
    }
}

// Two counts, the first of which is never behind the second. Who looks at both has to look at the second one first.
template <bool kFixed>
__device__ __forceinline__ void two_counts_of(Word *memory, Word *wrong) {
    Word *ahead = memory, *behind = memory + 1;
    if (blockIdx.x == 0) {
        for (Word i = 1; i <= 2; i++) {
            work(memory + 8, 20);
            put(ahead, i);
            __threadfence();
            work(memory + 8, 6);
            put(behind, i);
            __threadfence();
        }
    } else {
        work(memory + 9, 30);
        Word one = look(kFixed ? behind : ahead);
        __threadfence();
        Word other = look(kFixed ? ahead : behind);
        if (kFixed ? one > other : other > one) *wrong = 1;
    }
}

BUG(steal)
BUG(early_ack)
BUG(two_counts)
