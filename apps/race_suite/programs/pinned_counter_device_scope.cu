// race: ptx=race(write-read,host,3,host) barracuda=none | the host reads a counter that the kernel counts up by atomics of the device's scope, which the host is not in
__global__ void count(int *counter) {
    atomicAdd(counter, 1);
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
