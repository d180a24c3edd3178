#include <cstdio>

struct Clock {
    volatile unsigned sequence;
    volatile int hours, minutes;
};

__device__ void set(Clock *clock, int hours, int minutes) {
    const unsigned before = clock->sequence;
    clock->sequence = before + 1;
    __threadfence();
    clock->hours = hours;
    clock->minutes = minutes;
    clock->sequence = before + 2;
}

__device__ int read(const Clock *clock) {
    int hours, minutes;
    unsigned before, after;
    do {
        before = clock->sequence;
        __threadfence();
        hours = clock->hours;
        minutes = clock->minutes;
        __threadfence();
        after = clock->sequence;
    } while (before != after || before % 2 == 1);
    return 60 * hours + minutes;
}

__global__ void tick(Clock *clock, int *bad) {
    if (blockIdx.x == 0) {
        for (int i = 1; i <= 3; i++) set(clock, i, i);
    } else {
        for (int i = 0; i < 3; i++) {
            const int time = read(clock);
            if (time % 61 != 0) *bad = time;
        }
    }
}

int main() {
    Clock *clock;
    int *bad, time;
    cudaMalloc(&clock, sizeof(Clock));
    cudaMalloc(&bad, sizeof(int));
    cudaMemset(clock, 0, sizeof(Clock));
    cudaMemset(bad, 0, sizeof(int));
    tick<<<2, 1>>>(clock, bad);
    cudaMemcpy(&time, bad, sizeof(int), cudaMemcpyDeviceToHost);
    if (time != 0) {
        std::printf("it was never %d:%02d\n", time / 60, time % 60);
        return 1;
    }
    return 0;
}
