// nvcc calls_rdc.ptx: -ptx -lineinfo -rdc=true -arch=compute_75
#include <cstdio>
struct Big {
    double x[2];
    int n;
};
__device__ __noinline__ int square(int x) { return x * x + threadIdx.x; }
__device__ __noinline__ Big make(Big b, float f) {
    b.x[0] += f;
    b.n++;
    return b;
}
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
typedef float (*Fn)(float);
__device__ float half_of(float x) { return x * 0.5f; }
__device__ float twice(float x) { return x * 2.0f; }
__device__ Fn table[2] = {half_of, twice};
struct Shape {
    __device__ virtual float area() const = 0;
};
struct Square : Shape {
    float s;
    __device__ Square(float v) : s(v) {}
    __device__ float area() const override { return s * s; }
};
struct Circle : Shape {
    float r;
    __device__ Circle(float v) : r(v) {}
    __device__ float area() const override { return 3.0f * r * r; }
};
__device__ __noinline__ void die(int code) {
    if (code) {
        printf("dead %d %f %s\n", code, 1.5, "abc");
        __trap();
    }
}
__device__ __forceinline__ int inner(int x) { return x + 3; }
__device__ __forceinline__ int middle(int *p, int x) {
    p[x] = inner(x) * 2;
    return p[x + 1];
}
__device__ __forceinline__ int outer(int *p, int x) { return middle(p, x) + middle(p, x + 5); }
__global__ void calls(int *out, Big b) {
    out[threadIdx.x] = square(out[threadIdx.x]) + fib(threadIdx.x & 7);
    Big r = make(b, 2.0f);
    out[1] = r.n + (int)r.x[0];
    out[2] = outer(out, threadIdx.x);
    die(out[3]);
}
__global__ void pointers(float *out, int which) { out[threadIdx.x] = table[which](out[threadIdx.x]); }
__global__ void virtuals(float *out, int which) {
    Square s(out[0]);
    Circle c(out[1]);
    Shape *shape = which ? (Shape *)&s : (Shape *)&c;
    out[threadIdx.x] = shape->area();
}
