// race: ptx=none barracuda=none | a second thread of the host reads managed memory behind the first one's wait for the kernel, and others are made meanwhile
#include <thread>

__global__ void compute(int *word) {
    *word = 42;
}

int main() {
    int *word;
    int seen = 0, sum = 0;
    cudaMallocManaged(&word, sizeof(int));
    compute<<<1, 1>>>(word);
    std::thread other([&] {
        for (int i = 0; i < 10; ++i) sum += i;
    });
    other.join();
    cudaDeviceSynchronize();
    std::thread reader([&] { seen = *word; });
    reader.join();
    return seen != 42 || sum != 45;
}
