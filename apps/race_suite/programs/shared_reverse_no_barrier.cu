// race: ptx=race(write-read,intra-block,7,8) barracuda=race(write-read,intra-block,7,8) | MP without any edge: a thread of the other warp wrote the element, and no __syncthreads() stands between
__device__ int out[64];

__global__ void reverse() {
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = 3 * t;
    out[t] = tile[63 - t];
}

int main() {
    reverse<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
