// race: ptx=none barracuda=none | MP over a thread between (ISA2): each has a fence before it writes and behind what it polls, and order is cumulative
__device__ int data, out;
__device__ volatile int first, second;

__global__ void chain() {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        first = 1;
    } else if (blockIdx.x == 1) {
        while (first == 0) {
        }
        __threadfence();
        second = 1;
    } else {
        while (second == 0) {
        }
        __threadfence();
        out = data;
    }
}

int main() {
    chain<<<3, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
