// race: ptx=none barracuda=none hirace=race(write-read,inter-block,7,14) scord=race(write-read,inter-block,7,14) | the writer's fence is of block scope, the reader in another block: strong accesses do not race in PTX, BARRACUDA takes one global fence of the two for enough, ScoRD asks the writer's
__device__ unsigned data, flag, out;

__global__ void pass() {
    volatile unsigned *mail = &data;
    if (blockIdx.x == 0) {
        *mail = 42;
        __threadfence_block();
        atomicExch(&flag, 1);
    } else {
        while (atomicAdd(&flag, 0) == 0) {
        }
        __threadfence();
        out = *mail;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
