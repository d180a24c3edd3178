// race: ptx=none barracuda=none | one lane of the warp adds for all and hands the base round by a shuffle; every slot belongs to one thread
__device__ int count, out[128];

__global__ void filter() {
    int t = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x % 32;
    unsigned keep = __ballot_sync(0xffffffff, t % 3 == 0);
    int leader = __ffs(keep) - 1, base = 0;
    if (lane == leader) base = atomicAdd(&count, __popc(keep));
    base = __shfl_sync(0xffffffff, base, leader);
    if (t % 3 == 0) out[base + __popc(keep & ((1u << lane) - 1))] = t;
}

int main() {
    filter<<<2, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
