// race: ptx=race(write-read,inter-block,5,13) barracuda=race(write-read,inter-block,5,13) | every thread publishes, thread 0 fences and counts with no block barrier before: what the other warp wrote is not covered
__device__ int part[256], arrived, out;

__global__ void sum() {
    part[blockIdx.x * 64 + threadIdx.x] = 1;
    if (threadIdx.x == 0) {
        __threadfence();
        int before = atomicAdd(&arrived, 1);
        __threadfence();
        if (before == 3) {
            int all = 0;
            for (int i = 0; i < 256; i++) {
                if (i / 64 != blockIdx.x) all += part[i];
            }
            out = all;
        }
    }
}

int main() {
    sum<<<4, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
