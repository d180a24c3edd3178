#include <cstdio>

struct Meter {
    int busy;
    long kilometres;

    __device__ void drive(long by) {
        while (atomicCAS(&busy, 0, 1)) {} kilometres += by; __threadfence(); atomicExch(&busy, 0);
    }
};

__global__ void fleet(Meter *meter) { meter->drive(10 + blockIdx.x); }

int main() {
    Meter *meter, host = {};
    cudaMalloc(&meter, sizeof host);
    cudaMemcpy(meter, &host, sizeof host, cudaMemcpyHostToDevice);
    fleet<<<5, 1>>>(meter);
    cudaMemcpy(&host, meter, sizeof host, cudaMemcpyDeviceToHost);
    if (host.kilometres != 60) return std::printf("%ld km\n", host.kilometres), 1;
    return 0;
}
