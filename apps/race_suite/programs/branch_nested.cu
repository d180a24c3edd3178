// race: ptx=race(write-read,intra-warp/divergence,10,13) barracuda=race(branch-order/write-read,divergence,10,13) | a race between two of three sides of nested branches
__device__ int out[32], steps;

__global__ void sides() {
    __shared__ int slot[32];
    int t = threadIdx.x;
    if (t < 16) {
        atomicAdd(&steps, 1);
        if (t < 8) {
            slot[t] = 3 * t;
        } else {
            atomicAdd(&steps, 2);
            out[t] = slot[t - 8];
        }
    } else {
        slot[t] = 5 * t;
    }
}

int main() {
    sides<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
