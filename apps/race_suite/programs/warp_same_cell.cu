// race: ptx=race(write-write,intra-warp,5,5) barracuda=race(write-write,intra-warp,5,5) | the lanes of one store write different values to one cell (CoWW)
__device__ int cell;

__global__ void collide() {
    cell = threadIdx.x;
}

int main() {
    collide<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
