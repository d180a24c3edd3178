// The other half of parts_main.cu.
__device__ int counter = 10;
__device__ int twice(int number) { return 2 * number; }
__global__ void add() { atomicAdd(&counter, 100); }
void launch_other() { add<<<1, 1>>>(); }
