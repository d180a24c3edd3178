// race: ptx=race(write-read,inter-block,8,10) barracuda=none | MP with fences but a plain flag: the flag's own accesses race, and only the order that the two sequentially consistent fences are forced into orders the rest; BARRACUDA takes any load and store beside a fence for acquire and release
__device__ int data, flag, out;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0) {
            __threadfence();
        }
        __threadfence();
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
