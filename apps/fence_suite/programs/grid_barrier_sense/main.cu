#include <cstdio>

class GridBarrier {
public:
    __device__ void wait() {
        __syncthreads();
        if (threadIdx.x == 0) {
            int sense = phase;
            if (atomicAdd(&count, 1) == gridDim.x - 1) {
                count = 0;
                __threadfence();
                phase = sense + 1;
            } else {
                while (phase == sense) {
                }
            }
            __threadfence();
        }
        __syncthreads();
    }

private:
    int count;
    volatile int phase;
};

__global__ void smooth(GridBarrier *barrier, int *a, int *b, int steps) {
    const int left = (blockIdx.x + gridDim.x - 1) % gridDim.x;
    for (int s = 0; s < steps; s++) {
        if (threadIdx.x == 0) {
            b[blockIdx.x] = a[left] + 1;
        }
        barrier->wait();
        int *swap = a;
        a = b;
        b = swap;
    }
}

int main() {
    const int blocks = 3, steps = 3;
    GridBarrier *barrier;
    int *rows, out[blocks];
    cudaMalloc(&barrier, sizeof(GridBarrier));
    cudaMalloc(&rows, 2 * sizeof out);
    cudaMemset(barrier, 0, sizeof(GridBarrier));
    cudaMemset(rows, 0, 2 * sizeof out);
    smooth<<<blocks, 32>>>(barrier, rows, rows + blocks, steps);
    cudaMemcpy(out, rows + blocks, sizeof out, cudaMemcpyDeviceToHost);
    for (int b = 0; b < blocks; b++)
        if (out[b] != steps) {
            printf("block %d has %d\n", b, out[b]);
            return 1;
        }
    return 0;
}
