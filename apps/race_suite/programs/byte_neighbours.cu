// race: ptx=none barracuda=none | neighbours in a word, but each thread has a byte of its own, and accesses of bytes do not overlap
__device__ char text[64];

__global__ void fill() {
    int t = blockIdx.x * 32 + threadIdx.x;
    text[t] += t % 26;
}

int main() {
    fill<<<2, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
