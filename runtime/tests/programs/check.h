// What the programs share: each call is checked against the error that the documentation names, all that
// differ are listed, and main's exit code says whether any did.
#pragma once
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static int wrong = 0;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            wrong++; \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
        } \
    } while (0)

// The call gives this error, and `cudaGetLastError` knows it until it is asked.
#define GIVES(error, call) \
    do { \
        cudaError_t got = (call); \
        if (got != (error) || cudaPeekAtLastError() != got || cudaGetLastError() != got \
            || cudaGetLastError() != cudaSuccess) { \
            wrong++; \
            printf("%s:%d: %s gives %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got)); \
        } \
    } while (0)

#define OK(call) GIVES(cudaSuccess, call)
