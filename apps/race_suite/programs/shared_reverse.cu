// race: ptx=none barracuda=none | each thread writes its own element, and __syncthreads() stands before any thread reads another's
__device__ int out[64];

__global__ void reverse() {
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = 3 * t;
    __syncthreads();
    out[t] = tile[63 - t];
}

int main() {
    reverse<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
