// Ways through a kernel: early returns, loops, traps, exits; and everything that waits.

extern "C" __global__ void __launch_bounds__(128) early(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    data[i] = i;
    if (data[i] % 7 == 3) return;
    for (int k = 0; k < 5; k++) {
        data[i] += k;
        if (data[i] == 1000) return;
    }
    if (data[i] == -1) __trap();
}

__device__ __noinline__ void leave(int *data) {
    data[1] = 9;
    asm volatile("exit;");
}

extern "C" __global__ void exits(int *data) {
    data[2 * threadIdx.x] = 1;
    if (threadIdx.x & 1) leave(data + 2 * threadIdx.x);
    data[2 * threadIdx.x] = 2;
}

extern "C" __global__ void waits(int *data) {
    __shared__ int box[128];
    int t = threadIdx.x;
    box[t] = t;
    __syncwarp();
    int sum = box[t ^ 1];
    __syncthreads();
    box[t] = sum;
    sum += __syncthreads_or(box[t ^ 1] > 200);
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.arrive 2, 64;\n\tbarrier.sync 3, 64;" ::: "memory");
    volatile int *flag = data + 1024;
    flag[t] = 1;
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __ballot_sync(~0u, sum > 3);
    sum += __match_any_sync(~0u, sum);
    sum += __activemask();
    data[blockIdx.x * blockDim.x + t] = sum;
}
