#include <cstdio>

struct Result {
    int minimum;
    int maximum;
    int sum;
    int complete;
};

__global__ void summarise(const int *values, int n, Result *result, int *report)
{
    if (blockIdx.x == 0)
    {
        result->minimum = values[0];
        result->maximum = values[n - 1];
        result->sum =
            values[0]
            + values[1]
            + values[2];
        atomicExch(
            &result->complete,
            n
        );
    }
    else
    {
        while (atomicCAS(
                   &result->complete,
                   n,
                   n) != n)
        {
        }
        __threadfence();
        *report = result->sum
                  + 1000 * result->minimum
                  + 100000 * result->maximum;
    }
}

int main()
{
    const int values[3] = {2, 5, 9};
    int *device, *report, got = 0;
    Result *result;
    cudaMalloc(&device, sizeof values);
    cudaMalloc(&report, sizeof got);
    cudaMalloc(&result, sizeof *result);
    cudaMemset(result, 0, sizeof *result);
    cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice);
    summarise<<<2, 1>>>(device, 3, result, report);
    cudaMemcpy(&got, report, sizeof got, cudaMemcpyDeviceToHost);
    if (got != 902016)
    {
        printf("report: %d\n", got);
        return 1;
    }
    return 0;
}
