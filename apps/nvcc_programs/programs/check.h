// What every program here needs: an error of the runtime ends it with a line and exit code 2, a wrong
// result with a line and exit code 1.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t error_ = (call);                                                                         \
        if (error_ != cudaSuccess) {                                                                         \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));  \
            std::exit(2);                                                                                    \
        }                                                                                                    \
    } while (0)

#define EXPECT(what, got, want)                                                                              \
    do {                                                                                                     \
        auto got_ = (got);                                                                                   \
        auto want_ = (want);                                                                                 \
        if (!(got_ == want_)) {                                                                              \
            std::fprintf(stderr, "wrong result: %s: %g instead of %g\n", what, double(got_), double(want_)); \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

// Numbers that look random and are the same everywhere.
struct Noise {
    unsigned state;
    unsigned next() { return state = state * 1664525u + 1013904223u, state >> 8; }
};
