// race: ptx=none barracuda=none | the host reads a counter that the kernel counts up by atomics of the system's scope
__global__ void count(int *counter) {
    atomicAdd_system(counter, 1);
}

int main() {
    int *counter;
    cudaMallocHost(&counter, sizeof(int));
    *counter = 0;
    count<<<4, 32>>>(counter);
    int seen = *(volatile int *)counter;
    cudaDeviceSynchronize();
    return seen > 128 || *counter != 128;
}
