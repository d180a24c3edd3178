#include <cstdio>

struct Cell {
    int value;
    volatile int set;
};

__device__ __forceinline__ void publish(Cell *cell, int value) {
    cell->value = value;
    cell->set = 1;
}

__device__ __forceinline__ int await(const Cell *cell) {
    while (cell->set == 0) {
    }
    __threadfence();
    return cell->value;
}

__global__ void three(Cell *cells, int *out) {
    if (blockIdx.x == 0) {
        publish(&cells[0], 3);
        publish(&cells[1], 5);
        publish(&cells[2], 7);
    } else {
        *out = await(&cells[2]) + await(&cells[1]) + await(&cells[0]);
    }
}

int main() {
    Cell *cells;
    int *out, sum = 0;
    cudaMalloc(&cells, 3 * sizeof(Cell));
    cudaMemset(cells, 0, 3 * sizeof(Cell));
    cudaMalloc(&out, sizeof(int));
    three<<<2, 1>>>(cells, out);
    cudaMemcpy(&sum, out, sizeof(int), cudaMemcpyDeviceToHost);
    if (sum != 15) {
        std::printf("sum %d\n", sum);
        return 1;
    }
    return 0;
}
