// race: ptx=race(write-write,inter-block,6,8)+race(write-write,inter-block,8,10)+lines(6,8,10) barracuda=any hirace=race(write-write,inter-block,6,8)+lines(6,8,10) scord=any | three blocks write one after another, and nothing orders them
__device__ int cell;
__device__ volatile int turn;
__global__ void three() {
    if (blockIdx.x == 0) {
        cell = 1; turn = 1;
    } else if (blockIdx.x == 1) {
        while (turn != 1) {} cell = 2; turn = 2;
    } else {
        while (turn != 2) {} cell = 3;
    }
}

int main() {
    three<<<3, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
