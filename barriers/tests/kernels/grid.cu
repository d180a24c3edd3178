// Kernels of cooperative launches, with barriers of the whole grid.
// nvcc: -ptx -lineinfo -O3 -arch=compute_90

#include <cooperative_groups.h>

constexpr int T = 64;

#define KERNEL(NAME) extern "C" __global__ void __launch_bounds__(T) NAME(const float *in, float *out, int n)
#define GRID const cooperative_groups::grid_group grid = cooperative_groups::this_grid()

// What threads have written before the grid's barrier others of their block read behind it.
KERNEL(halves) {
    __shared__ float part[T];
    GRID;
    part[threadIdx.x] = in[blockIdx.x * T + threadIdx.x];
    grid.sync();
    out[blockIdx.x * T + threadIdx.x] = part[T - 1 - threadIdx.x];
    grid.sync();
    part[threadIdx.x] = in[threadIdx.x];
}

// As many rounds as the host says.
KERNEL(rounds) {
    __shared__ float part[T];
    GRID;
    for (int i = 0; i < n; i++) {
        part[threadIdx.x] = in[blockIdx.x * T + threadIdx.x];
        grid.sync();
        out[blockIdx.x * T + threadIdx.x] = part[T - 1 - threadIdx.x];
        grid.sync();
    }
}

// Each block has elements of its own, as many as there are for it, and no barrier of any kind among these.
KERNEL(by_stride) {
    __shared__ float part[T];
    GRID;
    float sum = 0;
    for (int i = blockIdx.x * T + threadIdx.x; i < n; i += gridDim.x * T)
        sum += in[i];
    part[threadIdx.x] = sum;
    grid.sync();
    if (blockIdx.x == 0)
        out[threadIdx.x] = part[T - 1 - threadIdx.x];
}

// The second barrier is missing.
KERNEL(hurried) {
    __shared__ float part[T];
    GRID;
    part[threadIdx.x] = in[blockIdx.x * T + threadIdx.x];
    grid.sync();
    out[blockIdx.x * T + threadIdx.x] = part[T - 1 - threadIdx.x];
    part[threadIdx.x] = in[threadIdx.x];
}

// Some blocks come, others do not.
KERNEL(first_blocks) {
    GRID;
    if (blockIdx.x < n)
        grid.sync();
    out[blockIdx.x * T + threadIdx.x] = in[threadIdx.x];
}

// Each block comes as often as it has elements.
KERNEL(own_rounds) {
    GRID;
    for (int i = blockIdx.x; i < n; i += gridDim.x) {
        out[i * T + threadIdx.x] = in[i * T + threadIdx.x];
        grid.sync();
    }
}

KERNEL(first_block_twice) {
    GRID;
    grid.sync();
    if (blockIdx.x == 0)
        grid.sync();
    out[blockIdx.x * T + threadIdx.x] = in[threadIdx.x];
}

KERNEL(some_return) {
    GRID;
    if (blockIdx.x * T >= n)
        return;
    grid.sync();
    out[blockIdx.x * T + threadIdx.x] = in[threadIdx.x];
}

// Half of each block comes, and the other half waits elsewhere for all.
KERNEL(one_warp) {
    GRID;
    if (threadIdx.x < 32)
        grid.sync();
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[blockIdx.x * T + threadIdx.x] = in[threadIdx.x];
}
