#include <cstdint>
template <typename T, int N>
__global__ void __launch_bounds__(256) reduce(T *out, const T *__restrict__ in, int n) {
    __shared__ T tile[N];
    T sum = 0;
    for (int i = threadIdx.x; i < n; i += N)
        sum += in[i];
    tile[threadIdx.x] = sum;
    __syncthreads();
    for (int s = N / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            tile[threadIdx.x] += tile[threadIdx.x + s];
        __syncthreads();
    }
    if (!threadIdx.x)
        *out = tile[0];
}
template __global__ void reduce<float, 256>(float *, const float *, int);
template __global__ void reduce<double, 128>(double *, const double *, int);
template __global__ void reduce<int, 64>(int *, const int *, int);
template __global__ void reduce<unsigned long long, 64>(unsigned long long *, const unsigned long long *,
                                                        int);
__constant__ float coeff[4] = {1.0f, -2.5f, 0.0f, 3e10f};
__constant__ double dcoeff[3] = {1.0, 2.0, 1e-300};
__constant__ struct {
    int a;
    short b;
    char c[5];
    const float *p;
} mixed = {1, 2, "abcd", coeff};
__device__ int counter = 42;
__device__ int grid_data[3][4] = {{1, 2, 3, 4}, {5, 6}, {7}};
__device__ int *pointer = &counter;
__device__ const float *inside = coeff + 2;
__managed__ int managed_value = 7;
extern __shared__ int dynamic[];
struct P {
    int4 v;
    char tail[3];
};
__global__ void vectors(float4 *a, double2 *b, uchar4 *c, ushort2 *d, const int2 *__restrict__ e, P p) {
    int i = threadIdx.x;
    float4 x = a[i];
    x.x += 1;
    x.w = coeff[i & 3];
    a[i + 1] = x;
    double2 y = b[i];
    y.x *= dcoeff[i % 3];
    b[i + 1] = y;
    c[i] = c[i + 3];
    d[i] = d[i + 1];
    dynamic[i] = e[i].x + p.v.z + p.tail[1] + mixed.c[i & 3] + managed_value;
    dynamic[i + 1] = counter + *pointer + grid_data[i % 3][1] + (int)inside[0];
    __syncthreads();
    int local[20];
    for (int k = 0; k < 20; k++)
        local[(k * i) % 20] = dynamic[k];
    int s = 0;
    for (int k = 0; k < 20; k++)
        s += local[(k + i) % 20];
    counter = s;
    ((volatile int *)dynamic)[3] = s;
    *(volatile int *)&counter += 2;
    *(volatile short *)d = 3;
    *(volatile char *)c = 5;
    ((volatile float *)a)[2] = 2.f;
    ((volatile double *)b)[2] = 2.;
    __stcs((double *)b + 3, __ldcg((double *)b + 1));
    __stcg((unsigned long long *)b, __ldg((unsigned long long *)b + 4));
    a[9] = __ldcs(a + 4);
    int *q = (i & 1) ? dynamic : &counter;
    *q = 5;
    if (__isShared(q))
        q[1] = 2;
    if (__isGlobal(q))
        q[2] = 3;
    uint64_t *w = (uint64_t *)q;
    *w = (uint64_t)q;
    ((short *)q)[9] = 1;
    ((char *)q)[i] = (char)s;
    ((double *)q)[i] = s;
    ((float4 *)q)[i] = x;
}
