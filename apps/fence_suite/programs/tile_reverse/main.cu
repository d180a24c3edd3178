#include <cstdio>

const int n = 96;

__global__ void reverse(int *row) {
    __shared__ int tile[n];
    const int t = threadIdx.x;
    tile[t] = row[t];
    row[t] = tile[n - 1 - t];
}

int main() {
    int row[n], *device;
    for (int i = 0; i < n; i++) row[i] = i;
    cudaMalloc(&device, sizeof row);
    cudaMemcpy(device, row, sizeof row, cudaMemcpyHostToDevice);
    reverse<<<1, n>>>(device);
    cudaMemcpy(row, device, sizeof row, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        if (row[i] != n - 1 - i) {
            std::printf("%d at %d\n", row[i], i);
            return 1;
        }
    }
    return 0;
}
