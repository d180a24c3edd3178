// race: ptx=none barracuda=race(write-read,inter-block,7,9) hirace=race(write-read,inter-block,7,9) scord=race(write-read,inter-block,7,9) | a volatile mark that others look at now and then, and that tells nothing else
__device__ volatile int mark;
__device__ int out;

__global__ void look() {
    if (blockIdx.x == 0) {
        mark = 1;
    } else {
        out = mark;
    }
}

int main() {
    look<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
