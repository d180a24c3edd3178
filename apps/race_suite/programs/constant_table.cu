// race: ptx=none barracuda=none | all threads read the same constant table and the same global one; reads do not race
__constant__ int powers[4] = {1, 2, 4, 8};
__device__ int offsets[4] = {3, 1, 4, 1};
__device__ int out[64];

__global__ void look_up() {
    int t = blockIdx.x * 32 + threadIdx.x;
    out[t] = powers[t % 4] + offsets[t % 4];
}

int main() {
    look_up<<<2, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
