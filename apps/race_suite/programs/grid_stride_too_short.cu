// race: ptx=race(write-read/write-write,inter-block,6,6) barracuda=race(write-read/write-write,inter-block,6,6) | the loop strides by one block and not by the grid: blocks do the same elements
__device__ int a[128], b[128];

__global__ void scale() {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 128; i += blockDim.x) {
        b[i] = 2 * a[i] + b[i];
    }
}

int main() {
    scale<<<2, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
