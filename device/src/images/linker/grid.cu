// nvcc: -ptx -lineinfo -arch=compute_75 -rdc=true
// The barrier of a grid as the device-side runtime (libcudadevrt) offers it: what numba's grid.sync() calls.
//
// A block counts itself in once all of its threads are there, and waits until every block of the grid has done
// so as often as itself. The count goes up only, in the first word of the workspace that a cooperative launch
// gives to its grid (zero at first); cooperative_groups uses the second. It wraps after 2^32 arrivals.

extern "C" __device__ unsigned long long cudaCGGetIntrinsicHandle(cudaCGScope scope) {
    if (scope != cudaCGScopeGrid) return 0;
    unsigned high, low;
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    return (unsigned long long)high << 32 | low;
}

extern "C" __device__ cudaError_t cudaCGSynchronize(unsigned long long handle, unsigned int) {
    if (handle == 0) return cudaErrorUnknown;
    unsigned *arrived = (unsigned *)handle;
    __syncthreads();
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
        __threadfence();
        unsigned before = atomicAdd(arrived, 1);
        unsigned all = (before / blocks + 1) * blocks;
        while ((int)(*(volatile unsigned *)arrived - all) < 0) {}
        __threadfence();
    }
    __syncthreads();
    return cudaSuccess;
}
