// race: ptx=race(write-read,intra-warp,7,8)+race(write-read,intra-block,7,8) barracuda=race(write-read,intra-block,7,8) | no barrier between the tile's writes and its reads: lockstep hides it within a warp, nothing does across warps (MP without any edge)
__device__ int in[64], out[64];

__global__ void transpose() {
    __shared__ int tile[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[8 * y + x];
    out[8 * y + x] = tile[x][y];
}

int main() {
    transpose<<<1, dim3(8, 8)>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
