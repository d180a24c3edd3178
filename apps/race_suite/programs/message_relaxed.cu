// race: ptx=race(write-read,inter-block,6,11) barracuda=race(write-read,inter-block,6,11)+lines(6,7,9,11) | MP by relaxed store and load of device scope: the flag does not race, the data does
__device__ int data, flag, out;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        __nv_atomic_store_n(&flag, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    } else {
        while (__nv_atomic_load_n(&flag, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) == 0) {
        }
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
