// race: ptx=race(write-read/write-write,inter-block,9,9) barracuda=race(write-read/write-write,inter-block,9,9)+lines(7,9,10) | a ticket lock without fences (MP through the turn)
__device__ int next, counter;
__device__ volatile int turn;

__global__ void count() {
    int ticket = atomicAdd(&next, 1);
    while (turn != ticket) {
    }
    counter++;
    turn = ticket + 1;
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
