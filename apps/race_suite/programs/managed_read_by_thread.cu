// race: ptx=race(write-read,host,5,host) barracuda=none | a second thread of the host reads managed memory before anybody has waited for the kernel
#include <thread>

__global__ void compute(int *word) {
    *word = 42;
}

int main() {
    int *word;
    int seen = 0;
    cudaMallocManaged(&word, sizeof(int));
    compute<<<1, 1>>>(word);
    std::thread reader([&] { seen = *word; });
    reader.join();
    return cudaDeviceSynchronize() != cudaSuccess || seen > 42;
}
