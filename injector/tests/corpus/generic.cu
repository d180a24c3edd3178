// Generic pointers whose space is known only at run time, volatile accesses, dynamic shared memory.

extern __shared__ unsigned dynamic[];

__device__ __noinline__ void bump(unsigned *where, unsigned by) { *where = *where + by; }

__device__ __noinline__ unsigned read(const volatile unsigned *where) { return *where; }

extern "C" __global__ void spaces(unsigned *out, int which) {
    __shared__ unsigned fixed[128];
    unsigned local[4] = {1, 2, 3, 4};
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    fixed[t] = t;
    dynamic[t] = 2 * t;
    unsigned *where = which == 0 ? &fixed[t] : which == 1 ? &dynamic[t] : which == 2 ? &out[i] : &local[t & 3];
    bump(where, 5);
    bump(&local[(t + 1) & 3], 7);
    unsigned seen = read(where);
    __syncthreads();
    out[i] = seen + fixed[t ^ 1] + dynamic[t ^ 1] + local[(t + 1) & 3] + read(&local[t & 3]);
}

extern "C" __global__ void volatiles(volatile int *flag, volatile double *value, unsigned *plain) {
    volatile __shared__ unsigned box;
    if (threadIdx.x == 0) {
        box = 5;
        *value = 2.5;
        plain[0] = box;
        *flag = 1;
    }
    __syncthreads();
    plain[threadIdx.x + 1] = box + *flag;
}
