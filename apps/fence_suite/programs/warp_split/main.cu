#include <cstdio>

// The even lanes of a warp take numbers apart, and all lanes take a digit each.
__global__ void digits(const int *numbers, int *out) {
    __shared__ int split[32];
    const int lane = threadIdx.x;
    if (lane % 2 == 0) {
        int number = numbers[lane / 2];
        split[lane] = number / 10;
        split[lane + 1] = number % 10;
    }
    out[lane] = split[31 - lane];
}

int main() {
    int numbers[16], *device, *out, host[32];
    for (int i = 0; i < 16; i++) numbers[i] = 12 + 5 * i;
    cudaMalloc(&device, sizeof numbers);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(device, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    digits<<<1, 32>>>(device, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) {
        const int number = numbers[i / 2], digit = i % 2 == 0 ? number / 10 : number % 10;
        if (host[31 - i] != digit) {
            std::printf("digit %d is %d\n", i, host[31 - i]);
            return 1;
        }
    }
    return 0;
}
