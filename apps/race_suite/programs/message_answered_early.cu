// race: ptx=race(write-read,inter-block,14,9) barracuda=race(write-read,inter-block,14,9)+lines(8,9,11,14) | LB: the reader says that it is done before it reads, so the writer overwrites what is still being read
__device__ int data, fresh = 2, out;
__device__ volatile int done;

__global__ void pass() {
    if (blockIdx.x == 0) {
        __threadfence();
        done = 1;
        out = data;
    } else {
        while (done == 0) {
        }
        __threadfence();
        data = fresh;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
