// race: ptx=none barracuda=none | the tile is whole when the barrier is passed; nobody writes it after
__device__ int in[64], out[64];

__global__ void transpose() {
    __shared__ int tile[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[8 * y + x];
    __syncthreads();
    out[8 * y + x] = tile[x][y];
}

int main() {
    transpose<<<1, dim3(8, 8)>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
