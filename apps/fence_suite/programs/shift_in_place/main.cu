#include <cstdio>

// Every cell takes over what its left neighbour has.
__global__ void shift(int *cells)
{
    extern __shared__ int row[];
    const int t = threadIdx.x;
    row[t] = cells[t];
    __syncthreads();
    const int left = t == 0 ? -1 : row[t - 1];
    row[t] = left;
    __syncthreads();
    cells[t] = row[t];
}

int main()
{
    const int n = 64;
    int cells[n], *device;
    for (int i = 0; i < n; i++)
        cells[i] = 3 * i;
    cudaMalloc(&device, sizeof cells);
    cudaMemcpy(device, cells, sizeof cells, cudaMemcpyHostToDevice);
    shift<<<1, n, n * sizeof(int)>>>(device);
    cudaMemcpy(cells, device, sizeof cells, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
    {
        const int expected = i == 0 ? -1 : 3 * (i - 1);
        if (cells[i] != expected)
        {
            std::printf("cell %d: %d, not %d\n", i, cells[i], expected);
            return 1;
        }
    }
    return 0;
}
