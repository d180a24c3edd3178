#include <cuda/atomic>
#include <cstdio>

struct Channel {
    int value;
    int state;
};

__device__ void send(Channel &channel, int value) {
    channel.value = value;
    cuda::atomic_ref<int, cuda::thread_scope_device>(channel.state).store(1, cuda::memory_order_release);
}

__device__ int receive(Channel &channel) {
    cuda::atomic_ref<int, cuda::thread_scope_device> state(channel.state);
    while (state.load(cuda::memory_order_relaxed) != 1) {
    }
    return channel.value;
}

__global__ void talk(Channel *channels, int *heard) {
    if (blockIdx.x == 0) {
        send(channels[0], 17);
        heard[0] = receive(channels[1]);
    } else {
        send(channels[1], 71);
        heard[1] = receive(channels[0]);
    }
}

int main() {
    Channel *channels;
    int *heard, host[2];
    cudaMalloc(&channels, 2 * sizeof(Channel));
    cudaMemset(channels, 0, 2 * sizeof(Channel));
    cudaMalloc(&heard, sizeof host);
    talk<<<2, 1>>>(channels, heard);
    cudaMemcpy(host, heard, sizeof host, cudaMemcpyDeviceToHost);
    if (host[0] != 71 || host[1] != 17) {
        std::printf("heard %d and %d\n", host[0], host[1]);
        return 1;
    }
    return 0;
}
