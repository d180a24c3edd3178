// race: ptx=none barracuda=none | the sides of the branch write different halves; __syncwarp() stands behind the branch, before anyone reads the other half
__device__ int out[32];

__global__ void sides() {
    __shared__ int slot[32];
    int t = threadIdx.x;
    if (t < 16) {
        slot[t] = 3 * t;
        out[t] = slot[t] + 1;
    } else {
        slot[t] = out[t] - t;
    }
    __syncwarp();
    out[t] = slot[31 - t];
}

int main() {
    sides<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
