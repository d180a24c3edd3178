// race: ptx=race(write-write,intra-warp,5,5) barracuda=none | the lanes of one store write the same value to one cell: the model asks for no values, BARRACUDA forgives this one
__device__ int cell;

__global__ void collide() {
    cell = 7;
}

int main() {
    collide<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
