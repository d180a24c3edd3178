#include <cstdio>

__device__ volatile unsigned version;
__device__ volatile float x, y;

__device__ bool snapshot(float &a, float &b)
{
    const unsigned seen = version;
    if (seen & 1)
        return false;
    __threadfence();
    a = x;
    b = y;
    return version == seen;
}

__global__ void animate(int frames, int *torn)
{
    if (blockIdx.x == 0)
    {
        for (int f = 1; f <= frames; ++f)
        {
            version = 2 * f - 1;
            __threadfence();
            x = 0.5f * f;
            y = -0.5f * f;
            __threadfence();
            version = 2 * f;
        }
    }
    else
    {
        for (int f = 0; f < 2 * frames; ++f)
        {
            float a, b;
            if (snapshot(a, b) && a != -b)
                *torn += 1;
        }
    }
}

int main()
{
    int *torn, count = 0;
    cudaMalloc(&torn, sizeof count);
    cudaMemset(torn, 0, sizeof count);
    animate<<<2, 1>>>(6, torn);
    cudaMemcpy(&count, torn, sizeof count, cudaMemcpyDeviceToHost);
    if (count > 0)
        std::printf("%d torn frames\n", count);
    return count > 0;
}
