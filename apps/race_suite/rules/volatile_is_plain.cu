// race: ptx=none barracuda=race(write-write,inter-block,5,5) hirace=race(write-write,inter-block,5,5) scord=race(write-write,inter-block,5,5) | two blocks set the same mark by volatile stores: strong, so that they do not race; to ScoRD a fence is missing
__device__ volatile int found;

__global__ void mark() {
    found = 1;
}

int main() {
    mark<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
