// race: ptx=race(write-read,inter-block,7,14) barracuda=none hirace=race(write-read,inter-block,7,14)+lines(7,9,11,14) scord=race(write-read,inter-block,7,14)+lines(7,9,11,14) | the reader fences for its own block alone: BARRACUDA takes the two fences for a release and an acquire
__device__ int data, out;
__device__ volatile int flag;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0) {
        }
        __threadfence_block();
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
