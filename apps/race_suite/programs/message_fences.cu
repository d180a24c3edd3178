// race: ptx=none barracuda=none | MP with a fence on both sides, around a volatile flag: release and acquire patterns at gpu scope
__device__ int data, out;
__device__ volatile int flag;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0) {
        }
        __threadfence();
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
