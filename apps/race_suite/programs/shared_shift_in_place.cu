// race: ptx=race(write-read,intra-warp,10,9)+race(write-read,intra-block,10,9) barracuda=race(write-read,intra-block,10,9) | no barrier between the read of the neighbour and its overwriting: within the warp only lockstep helps, and at the edge of the warp nothing (LB)
__device__ int out[64];

__global__ void shift() {
    __shared__ int row[64];
    int t = threadIdx.x;
    row[t] = t;
    __syncthreads();
    int next = row[(t + 1) % 64];
    row[t] = next;
    __syncthreads();
    out[t] = row[t];
}

int main() {
    shift<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
