// nvcc switches_sm100.ptx: -ptx -lineinfo -arch=compute_100
__device__ __noinline__ int f1(int x) { return x / 3; }
__global__ void switches(int *out, const int *in) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int v = in[i];
    switch (v) {
    case 0:
        v = f1(v + 1);
        break;
    case 1:
        v = v * 17 - 2;
        out[5] = v;
        break;
    case 2:
        v ^= 0x5555;
        out[in[v & 3]] = 1;
        break;
    case 3:
        v = __popc(v) + in[2];
        break;
    case 4:
        v = __clz(v) * in[4];
        break;
    case 5:
        return;
    case 6:
        v = in[6] % 7;
        __syncthreads();
        break;
    case 7:
        for (int k = 0; k < v; k++)
            out[k] += k;
        break;
    case 8:
        v = atomicAdd(out, 2);
        break;
    case 12:
        v = -v;
        break;
    default:
        v = 99;
    }
    out[i] = v;
}
__global__ void loops(float *a, int n, int m) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float s = 0;
        for (int j = 0; j < m; j++) {
            if (a[i * m + j] < 0)
                continue;
            if (a[i * m + j] > 100.0f)
                break;
            s += a[i * m + j];
        }
        while (s > 1.0f)
            s *= 0.5f;
        a[i] = s;
    }
}
