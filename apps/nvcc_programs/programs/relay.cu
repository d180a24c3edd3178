// nvcc program: -arch=sm_75
// A block tells another one of its grid by way of a second grid beside it: of the same device (`one`), or of another one (`two`); or by way of the host,
// which polls memory (`polls`), asks for the stream's end as well (`queries`), or does so in a second thread (`thread`). Exits with 1 when the word came
// late, which may not be.
#include <cstdio>
#include <cstring>
#include <cuda/atomic>
#include <thread>

#include "check.h"

typedef cuda::atomic_ref<int, cuda::thread_scope_system> Flag;

__global__ void ends(int *word, int *sent, int *received, int *late) {
    if (blockIdx.x == 0) {
        word[0] = 7;
        Flag(*sent).store(1, cuda::memory_order_release);
    } else {
        while (Flag(*received).load(cuda::memory_order_acquire) == 0) {
        }
        if (word[0] != 7) *late = 1;
    }
}

__global__ void relay(int *sent, int *received) {
    while (Flag(*sent).load(cuda::memory_order_acquire) == 0) {
    }
    Flag(*received).store(1, cuda::memory_order_release);
}

void by_host(const char *how) {
    int *flags, *memory, late;
    cudaStream_t stream;
    CHECK(cudaHostAlloc(&flags, 4096, cudaHostAllocMapped));
    CHECK(cudaMalloc(&memory, 4096));
    CHECK(cudaMemset(memory, 0, 4096));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    flags[0] = flags[64] = 0;
    const bool queries = !strcmp(how, "queries");
    auto hand_on = [=] {
        while (__atomic_load_n(&flags[0], __ATOMIC_ACQUIRE) == 0) {
            if (queries) (void)cudaStreamQuery(stream);
        }
        __atomic_store_n(&flags[64], 1, __ATOMIC_RELEASE);
    };
    std::thread second;
    if (!strcmp(how, "thread")) second = std::thread(hand_on);
    ends<<<2, 1, 0, stream>>>(memory, flags, flags + 64, memory + 192);
    CHECK(cudaGetLastError());
    if (!second.joinable()) hand_on();
    CHECK(cudaStreamSynchronize(stream));
    if (second.joinable()) second.join();
    CHECK(cudaMemcpy(&late, memory + 192, sizeof late, cudaMemcpyDeviceToHost));
    EXPECT("late", late, 0);
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "one") && strcmp(arguments[1], "two")) {
        by_host(arguments[1]);
        return 0;
    }
    const int devices = count > 1 && !strcmp(arguments[1], "two") ? 2 : 1;
    int *memory, late;
    cudaStream_t one, other;
    CHECK(cudaMalloc(&memory, 4096));
    CHECK(cudaMemset(memory, 0, 4096));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    int *sent = memory + 64, *received = memory + 128, *found = memory + 192;
    ends<<<2, 1, 0, one>>>(memory, sent, received, found);
    CHECK(cudaGetLastError());
    CHECK(cudaSetDevice(devices - 1));
    if (devices == 2) CHECK(cudaDeviceEnablePeerAccess(0, 0));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    relay<<<1, 1, 0, other>>>(sent, received);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&late, found, sizeof late, cudaMemcpyDeviceToHost));
    EXPECT("late", late, 0);
    return 0;
}
