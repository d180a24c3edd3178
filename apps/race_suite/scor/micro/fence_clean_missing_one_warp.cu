// race: ptx=none barracuda=none hirace=race(write-read,intra-warp,7,10) scord=none | no fence between two lanes of one warp: a warp is one to ScoRD, in lockstep to BARRACUDA, and to HiRace its threads are independent
__device__ unsigned data, out;

__global__ void pass() {
    volatile unsigned *mail = &data;
    if (threadIdx.x == 0) {
        *mail = 42;
    }
    if (threadIdx.x == 1) {
        out = *mail;
    }
}

int main() {
    pass<<<1, 2>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
