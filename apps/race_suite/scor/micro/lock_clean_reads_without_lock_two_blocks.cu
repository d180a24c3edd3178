// race: ptx=none barracuda=none hirace=none scord=none | loads under a lock and loads without it: nobody writes
__device__ unsigned lock, constant = 7, out[2];

__global__ void read() {
    volatile unsigned *cell = &constant;
    if (blockIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence();
    }
    out[blockIdx.x] = *cell;
    if (blockIdx.x == 0) {
        __threadfence();
        atomicExch(&lock, 0);
    }
}

int main() {
    read<<<2, 1>>>();
    unsigned got[2] = {};
    if (cudaMemcpyFromSymbol(got, out, sizeof(got)) != cudaSuccess) return 1;
    return got[0] != 7 || got[1] != 7;
}
