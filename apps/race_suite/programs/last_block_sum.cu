// race: ptx=none barracuda=none | every block publishes its sum and counts between fences; the last one adds them up
__device__ int part[4], arrived, out;

__global__ void sum() {
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        int before = atomicAdd(&arrived, 1);
        __threadfence();
        if (before == 3) {
            int all = 0;
            for (int i = 0; i < 4; i++) all += part[i];
            out = all;
        }
    }
}

int main() {
    sum<<<4, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
