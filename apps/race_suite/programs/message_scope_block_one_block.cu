// race: ptx=none barracuda=none | release and acquire of block scope between two warps of one block
__device__ int data, flag, out;

__global__ void pass() {
    if (threadIdx.x == 0) {
        data = 42;
        __nv_atomic_store_n(&flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    } else if (threadIdx.x == 32) {
        while (__nv_atomic_load_n(&flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK) == 0) {
        }
        out = data;
    }
}

int main() {
    pass<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
