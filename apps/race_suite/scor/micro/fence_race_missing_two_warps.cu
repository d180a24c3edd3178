// race: ptx=none barracuda=race(write-read,intra-block,7,13)+lines(7,8,10,13) hirace=race(write-read,intra-block,7,13) scord=race(write-read,intra-block,7,13) | no fence behind the store: of strong accesses PTX only says that the old value may be read, ScoRD misses a fence of the block
__device__ unsigned data, flag, out;

__global__ void pass() {
    volatile unsigned *mail = &data;
    if (threadIdx.x == 0) {
        *mail = 42;
        atomicExch(&flag, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&flag, 0) == 0) {
        }
        __threadfence_block();
        out = *mail;
    }
}

int main() {
    pass<<<1, 33>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
