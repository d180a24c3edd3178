// race: ptx=race(write-read,inter-block,6,11) barracuda=race(write-read,inter-block,6,11) | MP through atomics without fences: CUDA's atomics are relaxed and order nothing else
__device__ int data, flag, out;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        atomicExch(&flag, 1);
    } else {
        while (atomicCAS(&flag, 1, 2) != 1) {
        }
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
