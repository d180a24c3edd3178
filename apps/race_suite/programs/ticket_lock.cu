// race: ptx=none barracuda=none | tickets by an atomic, turns by a volatile number, a fence behind the wait and one before the next turn
__device__ int next, counter;
__device__ volatile int turn;

__global__ void count() {
    int ticket = atomicAdd(&next, 1);
    while (turn != ticket) {
    }
    __threadfence();
    counter++;
    __threadfence();
    turn = ticket + 1;
}

int main() {
    count<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
