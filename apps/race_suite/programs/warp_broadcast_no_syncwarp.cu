// race: ptx=race(write-read,intra-warp/divergence,7,8) barracuda=none | lane 0 writes and the others read with no __syncwarp() between: nothing but lockstep orders them
__device__ int in, out[32];

__global__ void broadcast() {
    __shared__ int values[32];
    int t = threadIdx.x;
    if (t == 0) values[0] = in;
    out[t] = values[t / 32];
}

int main() {
    broadcast<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
