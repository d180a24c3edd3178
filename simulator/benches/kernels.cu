// The kernels of `throughput.rs`.

extern "C" __global__ void dot(const float *a, const float *b, float *result, int *mutex, int n)
{
    __shared__ float cache[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += a[i] * b[i];
    cache[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half != 0; half /= 2) {
        if (threadIdx.x < half)
            cache[threadIdx.x] += cache[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        while (atomicCAS(mutex, 0, 1) != 0) {
        }
        __threadfence();
        *result += cache[0];
        __threadfence();
        atomicExch(mutex, 0);
    }
}

extern "C" __global__ void fma_chain(float *out, float x, float y, int n)
{
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int i = 0; i < n; i++) {
        a = fmaf(a, x, y);
        b = fmaf(b, x, y);
        c = fmaf(c, x, y);
        d = fmaf(d, x, y);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

extern "C" __global__ void copy(const float *from, float *to, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        to[i] = from[i];
}
