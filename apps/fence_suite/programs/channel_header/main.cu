#include <stdio.h>
#include "channel.h"

__global__ void echo(channel_t *there, channel_t *back, long long *heard)
{
    if (blockIdx.x == 0) {
        channel_send(there, 123456789012LL);
        *heard = channel_receive(back);
    } else {
        long long word = channel_receive(there);
        channel_send(back, -word);
    }
}

int main(void)
{
    channel_t *channels;
    long long *heard, word = 0;
    cudaMalloc((void **)&channels, 2 * sizeof(channel_t));
    cudaMemset(channels, 0, 2 * sizeof(channel_t));
    cudaMalloc((void **)&heard, sizeof word);
    echo<<<2, 1>>>(channels, channels + 1, heard);
    cudaMemcpy(&word, heard, sizeof word, cudaMemcpyDeviceToHost);
    if (word != -123456789012LL) {
        printf("heard %lld\n", word);
        return 1;
    }
    return 0;
}
