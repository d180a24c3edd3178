// race: ptx=race(write-read,inter-grid/host,5,host) barracuda=none hirace=none scord=none | a copy in another stream reads what the kernel writes
__device__ int cell;

__global__ void write() {
    cell = 42;
}

int main() {
    int host, *address;
    cudaStream_t one, other;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaGetSymbolAddress((void **)&address, cell);
    write<<<1, 1, 0, one>>>();
    cudaMemcpyAsync(&host, address, sizeof host, cudaMemcpyDeviceToHost, other);
    return cudaDeviceSynchronize() != cudaSuccess;
}
