// race: ptx=none barracuda=none | the sides of the branch meet in atomics only
__device__ int total;

__global__ void sides() {
    if (threadIdx.x < 16) {
        atomicAdd(&total, 1);
    } else {
        atomicSub(&total, 2);
    }
}

int main() {
    sides<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
