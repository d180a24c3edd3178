// race: ptx=none barracuda=none | every item has a mark of its own, set behind a fence and polled before one
__device__ int tail, items[3], out;
__device__ volatile int ready[3];

__global__ void queue() {
    if (blockIdx.x < 3) {
        int slot = atomicAdd(&tail, 1);
        items[slot] = blockIdx.x + 1;
        __threadfence();
        ready[slot] = 1;
    } else {
        int sum = 0;
        for (int i = 0; i < 3; i++) {
            while (ready[i] == 0) {
            }
            __threadfence();
            sum += items[i];
        }
        out = sum;
    }
}

int main() {
    queue<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
