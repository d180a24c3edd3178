#include <cstdio>

struct Chair {
    int raised_by_left;
    int raised_by_right;
    int speakers;
};

__device__ bool may_speak(volatile int *mine, volatile int *theirs)
{
    *mine = 1;
    return *theirs == 0;
}

__global__ void debate(Chair *chairs)
{
    Chair *chair = &chairs[threadIdx.x];
    bool speak;
    if (blockIdx.x == 0)
        speak = may_speak(&chair->raised_by_left, &chair->raised_by_right);
    else
        speak = may_speak(&chair->raised_by_right, &chair->raised_by_left);
    if (speak)
        atomicAdd(&chair->speakers, 1);
}

int main()
{
    const int n = 4;
    Chair *chairs, host[n];
    cudaMalloc(&chairs, sizeof host);
    cudaMemset(chairs, 0, sizeof host);
    debate<<<2, n>>>(chairs);
    cudaMemcpy(host, chairs, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
    {
        if (host[i].speakers == 2)
        {
            printf("chair %d has two speakers\n", i);
            return 1;
        }
    }
    return 0;
}
