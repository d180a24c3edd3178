#ifndef CHANNEL_H
#define CHANNEL_H

/* One word from one block to another. */
typedef struct channel {
    long long word;
    volatile int full;
} channel_t;

static __device__ void channel_send(channel_t *c, long long word)
{
    c->word = word;
    c->full = 1;
}

static __device__ long long channel_receive(channel_t *c)
{
    while (!c->full);
    return c->word;
}

#endif
