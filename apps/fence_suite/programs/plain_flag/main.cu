#include <cuda/atomic>
#include <cstdio>

struct Stage
{
    double input;
    int ready;
};

__global__ void compute(Stage *stage, double *out)
{
    using ready_flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
    if (blockIdx.x == 0)
    {
        stage->input = 1.5;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        stage->ready = 1;
    }
    else
    {
        while (ready_flag(stage->ready).load(cuda::memory_order_acquire) == 0)
        {
        }
        *out = stage->input * stage->input;
    }
}

int main()
{
    Stage *stage;
    double *out, square = 0;
    cudaMalloc(&stage, sizeof(Stage));
    cudaMalloc(&out, sizeof(double));
    cudaMemset(stage, 0, sizeof(Stage));
    compute<<<2, 1>>>(stage, out);
    cudaMemcpy(&square, out, sizeof(double), cudaMemcpyDeviceToHost);
    if (square != 2.25)
    {
        std::printf("%g\n", square);
        return 1;
    }
    return 0;
}
