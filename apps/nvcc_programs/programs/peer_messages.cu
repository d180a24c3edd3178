// nvcc program: -arch=sm_75
// Two devices: one sends words through memory of the other's, which waits for a flag beside each. The first argument says how the sender orders
// them: `device` (__threadfence(), too narrow), `system` (__threadfence_system()), `volatile` (volatile words and no fence), `release` and `narrow` (stores
// with release semantics, at system and at device scope). Exits with 1 when a word came late.
#include <cstdio>
#include <cstring>
#include <cuda/atomic>

#include "check.h"

constexpr int ROUNDS = 8;

struct Mail {
    int words[ROUNDS][32];
    int flags[ROUNDS][32];
    int late;
};

__device__ int sent;

template <class Order>
__global__ void send(Mail *mail, Order order) {
    for (int round = 0; round < ROUNDS; round++) {
        mail->words[round][0] = 7 + round;
        order(&mail->flags[round][0]);
    }
    // Each device has a variable of its own.
    atomicAdd(&sent, 1);
}

__global__ void receive(Mail *mail) {
    for (int round = 0; round < ROUNDS; round++) {
        while (*(volatile int *)&mail->flags[round][0] == 0) {
        }
        __threadfence_system();
        if (mail->words[round][0] != 7 + round) mail->late++;
    }
}

struct DeviceFence {
    __device__ void operator()(int *flag) const {
        __threadfence();
        *(volatile int *)flag = 1;
    }
};

struct SystemFence {
    __device__ void operator()(int *flag) const {
        __threadfence_system();
        *(volatile int *)flag = 1;
    }
};

struct NoFence {
    __device__ void operator()(int *flag) const { *(volatile int *)flag = 1; }
};

struct Release {
    __device__ void operator()(int *flag) const {
        cuda::atomic_ref<int, cuda::thread_scope_system>(*flag).store(1, cuda::memory_order_release);
    }
};

struct Narrow {
    __device__ void operator()(int *flag) const {
        cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, cuda::memory_order_release);
    }
};

void launch(const char *how, Mail *mail) {
    if (!strcmp(how, "device")) send<<<1, 1>>>(mail, DeviceFence());
    if (!strcmp(how, "system")) send<<<1, 1>>>(mail, SystemFence());
    if (!strcmp(how, "volatile")) send<<<1, 1>>>(mail, NoFence());
    if (!strcmp(how, "release")) send<<<1, 1>>>(mail, Release());
    if (!strcmp(how, "narrow")) send<<<1, 1>>>(mail, Narrow());
    CHECK(cudaGetLastError());
}

int run(const char *how) {
    int devices = 0, reaches = 0;
    CHECK(cudaGetDeviceCount(&devices));
    if (devices < 2) {
        printf("needs two devices, and there is %d\n", devices);
        return 3;
    }
    CHECK(cudaDeviceCanAccessPeer(&reaches, 0, 1));
    if (!reaches) return 3;
    Mail *mail;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&mail, sizeof *mail));
    CHECK(cudaMemset(mail, 0, sizeof *mail));
    CHECK(cudaDeviceSynchronize());
    receive<<<1, 1>>>(mail);
    CHECK(cudaGetLastError());
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    launch(how, mail);
    CHECK(cudaDeviceSynchronize());
    int sents[2];
    for (int device = 0; device < 2; device++) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpyFromSymbol(&sents[device], sent, sizeof(int)));
    }
    EXPECT("sent by the first", sents[0], 1);
    EXPECT("sent by the second", sents[1], 0);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, mail));
    EXPECT("whose memory", attributes.device, 1);
    Mail *copy = new Mail;
    CHECK(cudaMemcpy(copy, mail, sizeof *mail, cudaMemcpyDeviceToHost));
    EXPECT("late", copy->late, 0);
    return 0;
}

int main(int count, char **arguments) { return run(count > 1 ? arguments[1] : "system"); }
