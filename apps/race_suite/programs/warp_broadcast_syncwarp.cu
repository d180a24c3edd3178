// race: ptx=none barracuda=none | lane 0 writes, __syncwarp() orders, all lanes read
__device__ int in, out[32];

__global__ void broadcast() {
    __shared__ int values[32];
    int t = threadIdx.x;
    if (t == 0) values[0] = in;
    __syncwarp();
    out[t] = values[t / 32];
}

int main() {
    broadcast<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
