// nvcc program: -arch=sm_75 -lineinfo
// Two devices pass messages: one writes words into memory of the other's, each with a flag behind it, and the other waits for the flags. The argument
// says what stands between a word and its flag: `none`, `device` (__threadfence(), too narrow) or `system` (__threadfence_system(), right). Exits with 1
// when a word came late.
#include <cstdio>
#include <cstring>

#include "check.h"

constexpr int ROUNDS = 8;
constexpr int APART = 32;

__global__ void send_bare(int *words, volatile int *flags) {
    for (int round = 0; round < ROUNDS; round++) {
        words[round * APART] = 7 + round;
        flags[round * APART] = 1;
    }
}

__global__ void send_device(int *words, volatile int *flags) {
    for (int round = 0; round < ROUNDS; round++) {
        words[round * APART] = 7 + round;
        __threadfence();
        flags[round * APART] = 1;
    }
}

__global__ void send_system(int *words, volatile int *flags) {
    for (int round = 0; round < ROUNDS; round++) {
        words[round * APART] = 7 + round;
        __threadfence_system();
        flags[round * APART] = 1;
    }
}

__global__ void receive(int *words, volatile int *flags, int *late) {
    for (int round = 0; round < ROUNDS; round++) {
        while (flags[round * APART] == 0) {
        }
        __threadfence_system();
        if (words[round * APART] != 7 + round) *late += 1;
    }
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "system";
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    if (devices < 2) {
        printf("needs two devices, and there is %d\n", devices);
        return 3;
    }
    const size_t bytes = ROUNDS * APART * sizeof(int);
    int *words, *flags, *late, found;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&words, bytes));
    CHECK(cudaMalloc(&flags, bytes));
    CHECK(cudaMalloc(&late, sizeof(int)));
    CHECK(cudaMemset(words, 0, bytes));
    CHECK(cudaMemset(flags, 0, bytes));
    CHECK(cudaMemset(late, 0, sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    receive<<<1, 1>>>(words, flags, late);
    CHECK(cudaGetLastError());
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    if (!strcmp(how, "none")) send_bare<<<1, 1>>>(words, flags);
    if (!strcmp(how, "device")) send_device<<<1, 1>>>(words, flags);
    if (!strcmp(how, "system")) send_system<<<1, 1>>>(words, flags);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&found, late, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT("late", found, 0);
    return 0;
}
