// Ten small kernels, each with one bug that needs a rare interleaving, and the same ten without it (`…_fixed`).

#include "parts.cuh"

// Publication through two hops: the first part publishes without a fence, the second passes the news on, the third trusts it.
template <bool kFixed>
__device__ __forceinline__ void two_hops_of(Word *memory, Word *wrong) {
    Word *data = memory, *first = memory + 1, *second = memory + 2;
    if (blockIdx.x == 0) {
        *data = 7;
        fence_if<kFixed>();
        put(first, 1);
        work(memory + 8, 4);
        __threadfence();
    } else if (blockIdx.x == 1) {
        work(memory + 9, 12);
        if (look(first) == 1) {
            __threadfence();
            put(second, 1);
        }
    } else {
        work(memory + 10, 24);
        if (look(second) == 1) {
            __threadfence();
            if (*data != 7) *wrong = 1;
        }
    }
}

// A count by an atomic that reads, an addition, and an atomic that writes, by two parts that seldom meet.
template <bool kFixed>
__device__ __forceinline__ void lost_update_of(Word *memory, Word *) {
    work(memory + 8 + blockIdx.x, 24 * blockIdx.x);
    if constexpr (kFixed) {
        atomicAdd(memory, 1);
    } else {
        atomicExch(memory, now(memory) + 1);
    }
}

// A stack without locks whose top has a tag, or has none: the top may be the same again and the rest another.
// memory[0]: top, memory[1..4]: what lies below node 1 to 3, memory[16 + i]: who has node i.
template <bool kFixed>
__device__ __forceinline__ Word below(Word old, Word node) {
    return kFixed ? ((old >> 16) + 1) << 16 | node : node;
}

template <bool kFixed>
__device__ __forceinline__ Word pop(Word *memory) {
    while (true) {
        Word top = now(memory), node = top & 0xffff;
        if (node == 0) return 0;
        Word next = now(memory + node);
        if (atomicCAS(memory, top, below<kFixed>(top, next)) == top) return node;
    }
}

template <bool kFixed>
__device__ __forceinline__ void push(Word *memory, Word node) {
    while (true) {
        Word top = now(memory);
        put(memory + node, top & 0xffff);
        __threadfence();
        if (atomicCAS(memory, top, below<kFixed>(top, node)) == top) return;
    }
}

template <bool kFixed>
__device__ __forceinline__ void aba_of(Word *memory, Word *) {
    if (blockIdx.x == 0) {
        work(memory + 8, 14);
        Word mine = pop<kFixed>(memory);
        if (mine != 0) atomicAdd(memory + 16 + mine, 1);
    } else {
        Word first = pop<kFixed>(memory), second = pop<kFixed>(memory);
        if (second != 0) atomicAdd(memory + 16 + second, 1);
        if (first != 0) push<kFixed>(memory, first);
    }
}

// Who sleeps says so after a look at the queue; who has work says so and then looks for sleepers. The sleeper has to look again.
template <bool kFixed>
__device__ __forceinline__ void lost_wakeup_of(Word *memory, Word *) {
    Word *queue = memory, *sleeping = memory + 1, *wake = memory + 2;
    if (blockIdx.x == 0) {
        work(memory + 8, 24);
        if (now(queue) == 0) {
            atomicExch(sleeping, 1);
            __threadfence();
            if (kFixed && now(queue) != 0) return;
            while (look(wake) == 0) {
            }
        }
    } else {
        work(memory + 9, 60);
        atomicExch(queue, 1);
        __threadfence();
        if (now(sleeping) == 1) put(wake, 1);
    }
}

// Initialised by whoever comes first; the others look at `ready` alone, which may be there before the rest.
template <bool kFixed>
__device__ __forceinline__ void double_checked_of(Word *memory, Word *wrong) {
    Word *ready = memory, *lock = memory + 1, *values = memory + 4;
    work(memory + 16 + blockIdx.x, 34 * blockIdx.x);
    if (look(ready) == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        if (look(ready) == 0) {
            for (int i = 0; i < 3; i++) values[i] = i + 1;
            fence_if<kFixed>();
            put(ready, 1);
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    __threadfence();
    for (int i = 0; i < 3; i++) {
        if (values[i] != i + 1) *wrong = 1;
    }
}

// A ticket lock whose tickets wrap round at four: with more who wait at one time, two have the same.
template <bool kFixed>
__device__ __forceinline__ void ticket_wrap_of(Word *memory, Word *) {
    const Word mask = kFixed ? 0xffff : 3;
    Word *next = memory, *serving = memory + 1, *count = memory + 2;
    work(memory + 16 + blockIdx.x, 28 * blockIdx.x);
    Word mine = atomicAdd(next, 1) & mask;
    while ((look(serving) & mask) != mine) {
    }
    __threadfence();
    *count = *count + 1;
    __threadfence();
    atomicAdd(serving, 1);
}

// A sequence lock whose reader asks whether nobody writes now, and not whether anybody has written meanwhile.
template <bool kFixed>
__device__ __forceinline__ void seqlock_of(Word *memory, Word *wrong) {
    Word *sequence = memory, *data = memory + 1;
    if (blockIdx.x == 0) {
        for (int round = 1; round <= 2; round++) {
            put(sequence, 2 * round - 1);
            __threadfence();
            put(data, round);
            put(data + 1, round);
            __threadfence();
            put(sequence, 2 * round);
            __threadfence();
            work(memory + 8, 40);
        }
    } else {
        work(memory + 9, 30);
        Word before = look(sequence);
        if (before % 2 == 1) return;
        __threadfence();
        Word one = look(data), other = look(data + 1);
        __threadfence();
        Word after = look(sequence);
        bool trusted = kFixed ? after == before : after % 2 == 0;
        if (trusted && one != other) *wrong = 1;
    }
}

// A ring of four whose producer takes it for full one item too late. The consumer is the faster of the two. One item is a mark, and
// of the others only the number counts.
template <bool kFixed>
__device__ __forceinline__ void ring_of(Word *memory, Word *wrong) {
    const Word size = 4, items = 12, mark = 7;
    Word *head = memory, *tail = memory + 1, *slots = memory + 4;
    if (blockIdx.x == 0) {
        for (Word i = 0; i < items; i++) {
            while (i - look(tail) >= (kFixed ? size : size + 1)) {
            }
            __threadfence();
            put(slots + i % size, i == mark);
            __threadfence();
            put(head, i + 1);
            work(memory + 16, 8);
        }
    } else {
        for (Word i = 0; i < items; i++) {
            while (look(head) <= i) {
            }
            __threadfence();
            Word item = look(slots + i % size);
            if ((i == mark) != (item == 1)) *wrong = 1;
            __threadfence();
            put(tail, i + 1);
        }
    }
}

// The reader of a message has no fence between the flag and the data. It votes among six copies.
template <bool kFixed>
__device__ __forceinline__ void missing_acquire_of(Word *memory, Word *wrong) {
    Word *flag = memory, *copies = memory + 4;
    if (blockIdx.x == 0) {
        for (int i = 0; i < 6; i++) copies[i] = 5;
        __threadfence();
        put(flag, 1);
    } else {
        work(memory + 16, 6);
        if (look(flag) == 1) {
            fence_if<kFixed>();
            int right = 0;
            for (int i = 0; i < 6; i++) right += copies[i] == 5;
            if (right == 0) *wrong = 1;
        }
    }
}

// A record is taken for whole when all of its four words are there; the trailer behind them need not be.
template <bool kFixed>
__device__ __forceinline__ void trailer_of(Word *memory, Word *wrong) {
    Word *done = memory, *words = memory + 4, *trailer = memory + 8;
    if (blockIdx.x == 0) {
        for (int i = 0; i < 4; i++) words[i] = 9;
        *trailer = 36;
        work(memory + 16, 16);
        __threadfence();
        put(done, 1);
    } else {
        work(memory + 17, 10);
        if constexpr (kFixed) {
            if (look(done) == 0) return;
        }
        for (int i = 0; i < 4; i++) {
            if (look(words + i) == 0) return;
        }
        __threadfence();
        if (look(trailer) != 36) *wrong = 1;
    }
}

BUG(two_hops)
BUG(lost_update)
BUG(aba)
BUG(lost_wakeup)
BUG(double_checked)
BUG(ticket_wrap)
BUG(seqlock)
BUG(ring)
BUG(missing_acquire)
BUG(trailer)
