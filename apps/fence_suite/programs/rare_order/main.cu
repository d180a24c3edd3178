// Who comes first keeps the minutes. The case that block 4 comes first, and block 2 second, has a path of its own.
#include <cstdio>

__device__ int chairs, minutes, taken;

__device__ void take_minutes(int value) {
    minutes = value;
    __threadfence();
    atomicExch(&taken, 1);
}

__global__ void meeting(int *copies) {
    const int b = blockIdx.x;
    const int place = atomicAdd(&chairs, 1);
    if (place == 1) {
        if (b == 2 && atomicAdd(&taken, 0) == -4) {
            minutes = 11;
            atomicExch(&taken, 1);
        } else {
            take_minutes(11);
        }
    } else if (place == 0 && b == 4) {
        atomicCAS(&taken, 0, -4);
    }
    if (place == 3) {
        while (atomicAdd(&taken, 0) <= 0) {
        }
        __threadfence();
        copies[0] = minutes;
    }
}

int main() {
    int *copies, copy = 0;
    cudaMalloc(&copies, sizeof(int));
    meeting<<<5, 1>>>(copies);
    cudaMemcpy(&copy, copies, sizeof(int), cudaMemcpyDeviceToHost);
    if (copy != 11) {
        std::printf("the copy says %d\n", copy);
        return 1;
    }
    return 0;
}
