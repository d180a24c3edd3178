// What a memory model costs where threads wait for each other: a matrix product whose rows are summed up under
// locks, and a spin lock for which 128 threads contend.

#define N 64

__device__ void take(int* lock)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
}

__device__ void leave(int* lock)
{
    __threadfence();
    atomicExch(lock, 0);
}

// C += A * B: a block for each row and slice of k, each row under its lock.
extern "C" __global__ void product(const int* a, const int* b, int* c, int* locks)
{
    int row = blockIdx.x / 4, slice = blockIdx.x % 4, column = threadIdx.x;
    int sum = 0;
    for (int k = slice * (N / 4); k < (slice + 1) * (N / 4); k++)
        sum += a[row * N + k] * b[k * N + column];
    if (threadIdx.x == 0)
        take(&locks[row]);
    __syncthreads();
    c[row * N + column] += sum;
    __syncthreads();
    if (threadIdx.x == 0)
        leave(&locks[row]);
}

extern "C" __global__ void contend(int* counter, int*, int*, int* lock)
{
    for (int i = 0; i < 8; i++) {
        bool done = false;
        while (!done) {
            if (atomicCAS(lock, 0, 1) == 0) {
                __threadfence();
                *counter += 1;
                leave(lock);
                done = true;
            }
        }
    }
}
