#include <cstdio>

// Hands a value over.
#define PUBLISH(box, what) \
    do {                   \
        (box)->value = (what); \
        atomicExch(&(box)->full, 1); \
    } while (0)

struct Box {
    int value, full;
};

__global__ void hand_over(Box *box, int *out) {
    if (blockIdx.x == 0) {
        PUBLISH(box, 91);
    } else {
        while (atomicAdd(&box->full, 0) == 0) {
        }
        __threadfence();
        *out = box->value;
    }
}

int main() {
    Box *box;
    int *out, value = 0;
    cudaMalloc(&box, sizeof(Box));
    cudaMemset(box, 0, sizeof(Box));
    cudaMalloc(&out, sizeof(int));
    hand_over<<<2, 1>>>(box, out);
    cudaMemcpy(&value, out, sizeof(int), cudaMemcpyDeviceToHost);
    if (value != 91) {
        std::printf("value %d\n", value);
        return 1;
    }
    return 0;
}
