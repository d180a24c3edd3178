#include <cstdio>

struct Frame {
    short width, height;
    volatile int valid;
};

__device__ void consume(const Frame &frame, int *pixels) {
    while (!frame.valid) { /* wait */ }
    __threadfence_block();
    *pixels = frame.width * frame.height;
}

__device__ void produce(Frame &frame) {
    frame.width = 40;
    frame.height = 30;
    __threadfence();
    frame.valid = true;
}

__global__ void display(Frame *frame, int *pixels) {
    if (blockIdx.x == gridDim.x - 1)
        consume(*frame, pixels);
    else
        produce(*frame);
}

int main() {
    Frame *frame;
    int *pixels, count = 0;
    cudaMalloc(&frame, sizeof(Frame));
    cudaMemset(frame, 0, sizeof(Frame));
    cudaMalloc(&pixels, sizeof(int));
    display<<<2, 1>>>(frame, pixels);
    cudaMemcpy(&count, pixels, sizeof(int), cudaMemcpyDeviceToHost);
    if (count == 1200) return 0;
    std::printf("%d pixels\n", count);
    return 1;
}
