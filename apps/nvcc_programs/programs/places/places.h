// A function of a header, with a place of its own.
#pragma once

static __device__ void announce(volatile int *words, int value) {
    //< header behind
    words[0] = value;
    //>
    AT(header)
    words[32] = value;
}
