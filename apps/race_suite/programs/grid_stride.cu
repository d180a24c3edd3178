// race: ptx=none barracuda=none | a grid-stride loop: every element belongs to one thread
__device__ int a[300], b[300];

__global__ void scale() {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 300; i += gridDim.x * blockDim.x) {
        b[i] = 2 * a[i] + b[i];
    }
}

int main() {
    scale<<<2, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
