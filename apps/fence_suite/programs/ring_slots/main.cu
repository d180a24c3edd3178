// A ring of slots, each with a turn of its own: even for a writer, odd for a reader.
#include <cstdio>

struct Slot { volatile int turn; int first; int second; };

__global__ void exchange(Slot *ring, int slots, int messages, int *result)
{
    int sum = 0;
    for (int m = 0; m < messages; m++)
    {
        Slot *slot = ring + m % slots;
        const int round = m / slots;
        if (blockIdx.x == 0)
        {
            while (slot->turn != 2 * round)
            {
            }
            __threadfence();
            slot->first = m;
            slot->second = -m;
            slot->turn = 2 * round + 1;
        }
        else
        {
            while (slot->turn != 2 * round + 1)
            {
            }
            const int first = slot->first, second = slot->second;
            __threadfence();
            slot->turn = 2 * round + 2;
            sum = 3 * sum + first - second;
        }
    }
    if (blockIdx.x == 1)
        *result = sum;
}

int main()
{
    const int slots = 2, messages = 6;
    Slot *ring;
    int *result, sum, expected = 0;
    cudaMalloc(&ring, slots * sizeof(Slot));
    cudaMalloc(&result, sizeof(int));
    cudaMemset(ring, 0, slots * sizeof(Slot));
    exchange<<<2, 1>>>(ring, slots, messages, result);
    cudaMemcpy(&sum, result, sizeof(int), cudaMemcpyDeviceToHost);
    for (int m = 0; m < messages; m++)
        expected = 3 * expected + 2 * m;
    if (sum == expected)
        return 0;
    std::printf("the messages add up to %d instead of %d\n", sum, expected);
    return 1;
}
