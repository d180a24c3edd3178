// race: ptx=race(write-read,inter-block,7,13) barracuda=race(write-read,inter-block,7,13)+lines(6,7,9,13) | the consumer waits for the tail, which the producers move before they write their items
__device__ int tail, items[3], out;

__global__ void queue() {
    if (blockIdx.x < 3) {
        int slot = atomicAdd(&tail, 1);
        items[slot] = blockIdx.x + 1;
    } else {
        while (*(volatile int *)&tail != 3) {
        }
        __threadfence();
        int sum = 0;
        for (int i = 0; i < 3; i++) sum += items[i];
        out = sum;
    }
}

int main() {
    queue<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
