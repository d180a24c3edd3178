// race: ptx=race(write-read,inter-block,6,8)+lines(6,8,10) barracuda=race(write-read,inter-block,6,8)+lines(6,8,10) | CoRR: a plain store and plain loads of another block with nothing between
__device__ int x, out[2];

__global__ void twice() {
    if (blockIdx.x == 0) {
        x = 1;
    } else {
        out[0] = x;
        __threadfence_block();
        out[1] = x;
    }
}

int main() {
    twice<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
