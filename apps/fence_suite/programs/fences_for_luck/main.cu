#include <cstdio>

// A block adds its part before it starts, and looks at nothing that others wrote.
__global__ void collect(const int *in, int *sum, int *count)
{
    const int mine = in[blockIdx.x];
    __threadfence();
    atomicAdd(sum, mine);
    __threadfence();
    atomicAdd(count, 1);
}

int main()
{
    const int n = 6, in[n] = {1, 10, 100, 1000, 10000, 100000};
    int *memory, out[2];
    cudaMalloc(&memory, (n + 2) * sizeof(int));
    cudaMemset(memory, 0, (n + 2) * sizeof(int));
    cudaMemcpy(memory + 2, in, sizeof in, cudaMemcpyHostToDevice);
    collect<<<n, 1>>>(memory + 2, memory, memory + 1);
    cudaMemcpy(out, memory, sizeof out, cudaMemcpyDeviceToHost);
    if (out[0] != 111111 || out[1] != n)
    {
        std::printf("%d of %d\n", out[0], out[1]);
        return 1;
    }
    return 0;
}
