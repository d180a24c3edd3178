// race: ptx=none barracuda=none | MP through atomics with fences: fence and exchange release, compare-and-swap and fence acquire
__device__ int data, flag, out;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        atomicExch(&flag, 1);
    } else {
        while (atomicCAS(&flag, 1, 2) != 1) {
        }
        __threadfence();
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
