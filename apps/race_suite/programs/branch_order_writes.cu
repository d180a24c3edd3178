// race: ptx=race(write-write,intra-warp/divergence,7,10) barracuda=race(branch-order/write-write,divergence,7,10) | both sides of the branch write the cell: the side that runs last wins
__device__ int cell, others[2];

__global__ void sides() {
    if (threadIdx.x == 0) {
        atomicAdd(&others[0], 1);
        cell = 1;
    } else if (threadIdx.x == 1) {
        atomicAdd(&others[1], 1);
        cell = 2;
    }
}

int main() {
    sides<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
