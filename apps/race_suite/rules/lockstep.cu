// race: ptx=race(write-read,intra-warp/divergence,7,8) barracuda=none hirace=race(write-read,intra-warp,7,8) scord=none | one lane writes and others read, and no __syncwarp() stands between
__device__ int in, out[32];
__device__ int values[32];

__global__ void broadcast() {
    int t = threadIdx.x;
    if (t == 0) values[0] = in;
    out[t] = values[t / 32];
}

int main() {
    broadcast<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
