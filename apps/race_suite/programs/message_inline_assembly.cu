// race: ptx=none barracuda=none | MP by st.release.gpu and ld.acquire.gpu written as inline PTX
__device__ int data, flag, out;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(&flag), "r"(1) : "memory");
    } else {
        int seen;
        do {
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory");
        } while (seen == 0);
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
