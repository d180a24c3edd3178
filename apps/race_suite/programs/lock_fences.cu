// race: ptx=none barracuda=none | the lock's fences stand behind the compare-and-swap and before the exchange
__device__ int lock, counter;

__global__ void count() {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    counter++;
    __threadfence();
    atomicExch(&lock, 0);
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
