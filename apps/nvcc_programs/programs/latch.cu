// nvcc program:
// A kernel waits for a word that the host writes only after further calls, all of which return while the kernel runs: an event, copies, a
// fill, what is said of managed memory, a function of the host's; in the same stream, in another one, in the default stream.
#include "check.h"

__global__ void wait(volatile unsigned *latch, unsigned round) {
    while (*latch < round) {
    }
}

int called;

void note(void *) {
    called++;
}

int main() {
    const size_t bytes = 1 << 12;
    unsigned *latch;
    char *managed, *device, *host;
    cudaStream_t streams[2];
    cudaEvent_t event;
    for (auto &stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaMallocHost(&latch, sizeof *latch));
    CHECK(cudaMallocHost(&host, bytes));
    CHECK(cudaMallocManaged(&managed, bytes));
    CHECK(cudaMalloc(&device, bytes));
    *latch = 0;
    unsigned round = 0;
    cudaStream_t behind[] = {streams[0], streams[1], nullptr};
    for (auto stream : behind) {
        for (int what = 0; what < 7; what++) {
            wait<<<1, 1, 0, streams[0]>>>(latch, ++round);
            CHECK(cudaGetLastError());
            memset(host, round, bytes);
            switch (what) {
                case 0: CHECK(cudaEventRecord(event, stream)); break;
                case 1: CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream)); break;
                case 2: CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream)); break;
                case 3: CHECK(cudaMemsetAsync(device, 1, bytes, stream)); break;
                case 4: CHECK(cudaMemPrefetchAsync(managed, bytes, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, stream)); break;
                case 5:
                    if (stream) CHECK(cudaStreamAttachMemAsync(stream, managed));
                    break;
                case 6: CHECK(cudaLaunchHostFunc(stream, note, nullptr)); break;
            }
            *(volatile unsigned *)latch = round;
            CHECK(cudaDeviceSynchronize());
            if (what == 1) {
                memset(host, 0, bytes);
                CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
                EXPECT("copied", host[bytes - 1], (char)round);
            }
        }
    }
    EXPECT("calls", called, 3);
    return 0;
}
