// What the texts of the tables use.
#include <cuda/atomic>
__device__ int flag, data, cnt, out;
__device__ volatile int vflag;
__device__ int table[64];
__device__ bool ready(int);
__device__ void use(int);
