#include <cstdio>

struct TicketLock
{
    unsigned int next;
    volatile unsigned int serving;

    __device__ unsigned int enter()
    {
        const unsigned int mine = atomicAdd(&next, 1);
        while (serving != mine)
        {
            // others are before us
        }
        return mine;
    }

    __device__ void leave(unsigned int mine)
    {
        __threadfence();
        serving = mine + 1;
    }
};

__global__ void append(TicketLock *lock, int *log, int *length)
{
    const unsigned int ticket = lock->enter();
    const int at = *length;
    log[at] = 100 * at;
    *length = at + 1;
    lock->leave(ticket);
}

int main()
{
    constexpr int blocks = 5;
    TicketLock *lock;
    int *log, *length;
    cudaMalloc(&lock, sizeof(TicketLock));
    cudaMalloc(&log, blocks * sizeof(int));
    cudaMalloc(&length, sizeof(int));
    cudaMemset(lock, 0, sizeof(TicketLock));
    cudaMemset(log, 0, blocks * sizeof(int));
    cudaMemset(length, 0, sizeof(int));

    append<<<blocks, 1>>>(lock, log, length);

    int lines[blocks], count;
    cudaMemcpy(lines, log, sizeof lines, cudaMemcpyDeviceToHost);
    cudaMemcpy(&count, length, sizeof count, cudaMemcpyDeviceToHost);
    bool right = count == blocks;
    for (int i = 0; i < blocks; ++i)
        right = right && lines[i] == 100 * i;
    if (!right)
        std::printf("%d lines, the last is %d\n", count, lines[blocks - 1]);
    return right ? 0 : 1;
}
