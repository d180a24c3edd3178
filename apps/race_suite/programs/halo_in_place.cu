// race: ptx=race(write-read,inter-block,6,6)+race(write-read,intra-warp,6,6) barracuda=race(write-read,inter-block,6,6) | a stencil writes the array that its neighbours still read; within the warp lockstep hides it
__device__ int row[66];

__global__ void smooth() {
    int i = 1 + blockIdx.x * 32 + threadIdx.x;
    row[i] = row[i - 1] + row[i] + row[i + 1];
}

int main() {
    smooth<<<2, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
