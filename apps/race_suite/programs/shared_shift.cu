// race: ptx=none barracuda=none | one barrier stands between the writes and the reads of the neighbours, one between those reads and the writes over them
__device__ int out[64];

__global__ void shift() {
    __shared__ int row[64];
    int t = threadIdx.x;
    row[t] = t;
    __syncthreads();
    int next = row[(t + 1) % 64];
    __syncthreads();
    row[t] = next;
    out[t] = row[t];
}

int main() {
    shift<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
