// race: ptx=race(write-read,inter-block,6,10) barracuda=race(write-read,inter-block,6,10) | the block that counts last adds up the sums of others, but no fence stands about the atomic (MP)
__device__ int part[4], arrived, out;

__global__ void sum() {
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x + 1;
        int before = atomicAdd(&arrived, 1);
        if (before == 3) {
            int all = 0;
            for (int i = 0; i < 4; i++) all += part[i];
            out = all;
        }
    }
}

int main() {
    sum<<<4, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
