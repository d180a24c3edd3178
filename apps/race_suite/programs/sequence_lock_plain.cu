// race: ptx=race(write-read,inter-block,9,17) barracuda=any trials=50 | a sequence lock with fences whose data is plain: a read that is thrown away still races; it shows where the reader overlaps with the writer. BARRACUDA takes data beside fences for synchronisation
__device__ int data, out;
__device__ volatile int version;

__global__ void sequence() {
    if (blockIdx.x == 0) {
        version = 1;
        __threadfence();
        data = 42;
        __threadfence();
        version = 2;
    } else {
        int before, seen;
        do {
            before = version;
            __threadfence();
            seen = data;
            __threadfence();
        } while (before % 2 != 0 || version != before);
        out = seen;
    }
}

int main() {
    sequence<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
