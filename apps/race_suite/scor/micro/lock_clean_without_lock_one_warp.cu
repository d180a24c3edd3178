// race: ptx=none barracuda=none hirace=race(write-read/write-write,intra-warp,7,7) scord=none | two lanes of one warp count in turn without a lock: a warp is one to ScoRD, in lockstep to BARRACUDA, and to HiRace its threads are independent
__device__ unsigned counter;

__global__ void count() {
    volatile unsigned *cell = &counter;
    for (int turn = 0; turn < 2; turn++) {
        if (threadIdx.x == turn) *cell = *cell + 1;
    }
}

int main() {
    count<<<1, 2>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
