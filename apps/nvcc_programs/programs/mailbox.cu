// nvcc program:
// The host and a kernel that runs talk through memory that both see, with no call of the API in between.
#include <cstring>

#include "check.h"

struct Mail {
    int asked;
    int answered;
    int value;
};

__global__ void server(volatile Mail *mail, int rounds) {
    for (int round = 1; round <= rounds; round++) {
        while (mail->asked != round) {
        }
        __threadfence_system();
        mail->value = 2 * mail->value + 1;
        __threadfence_system();
        mail->answered = round;
    }
}

int talk(Mail *host, Mail *device, cudaStream_t stream) {
    const int rounds = 5;
    std::memset(host, 0, sizeof(Mail));
    volatile Mail *mail = host;
    server<<<1, 1, 0, stream>>>(device, rounds);
    CHECK(cudaGetLastError());
    for (int round = 1; round <= rounds; round++) {
        mail->value = 10 * round;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        mail->asked = round;
        while (mail->answered != round) {
        }
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        EXPECT("value", mail->value, 20 * round + 1);
    }
    CHECK(cudaStreamSynchronize(stream));
    return 0;
}

int main() {
    Mail *managed, *mapped, *device;
    CHECK(cudaMallocManaged(&managed, sizeof(Mail)));
    CHECK(cudaHostAlloc(&mapped, sizeof(Mail), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&device, mapped, 0));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    talk(managed, managed, 0);
    talk(mapped, device, stream);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(managed));
    CHECK(cudaFreeHost(mapped));
    return 0;
}
