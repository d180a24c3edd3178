#include <cstdio>
#include <cstring>

#define TASKS 6

typedef struct {
    int from, to;
} Task;

__device__ Task tasks[TASKS];
__device__ volatile int available;
__device__ int claimed;
__device__ int squares[TASKS * 2];

__global__ void pool(void)
{
    if (blockIdx.x == 0) {
        /* the master */
        for (int i = 0; i < TASKS; i++) {
            tasks[i].from = 2 * i;
            tasks[i].to = 2 * i + 2;
            __threadfence();
            available = i + 1;
        }
        return;
    }
    for (;;) {
        int which = atomicAdd(&claimed, 1);
        if (which >= TASKS)
            return;
        while (available <= which)
            ;
        for (int i = tasks[which].from; i < tasks[which].to; i++)
            squares[i] = i * i;
    }
}

int main(void)
{
    int out[TASKS * 2];
    pool<<<3, 1>>>();
    cudaMemcpyFromSymbol(out, squares, sizeof out);
    for (int i = 0; i < TASKS * 2; i++)
        if (out[i] != i * i) {
            printf("square of %d: %d\n", i, out[i]);
            return 1;
        }
    return 0;
}
