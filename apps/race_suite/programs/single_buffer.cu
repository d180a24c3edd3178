// race: ptx=race(write-read,intra-block,8,10) barracuda=race(write-read,intra-block,8,10) | one buffer and one barrier a round: the next round's write overtakes this round's read (LB)
__device__ int out[64];

__global__ void rounds() {
    __shared__ int buffer[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 6; i++) {
        buffer[t] = i * t;
        __syncthreads();
        sum += buffer[63 - t];
    }
    out[t] = sum;
}

int main() {
    rounds<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
