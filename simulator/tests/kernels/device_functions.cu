// What device code calls without having it (printf, assert, malloc), calls by pointer, recursion, structures by
// value, and local memory that grows.
#include <cassert>
#include <cstdio>

struct Shape {
    __device__ virtual int area(int k) const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    int a;
    __device__ explicit Square(int a) : a(a) {}
    __device__ int area(int k) const override { return a * a * k; }
};
struct Rectangle : Shape {
    int a, b;
    __device__ Rectangle(int a, int b) : a(a), b(b) {}
    __device__ int area(int k) const override { return a * b + k; }
};
struct Big {
    int v[8];
    double d;
};
struct Huge {
    int v[4000];
};

__device__ __noinline__ Big twist(Big b, int k) {
    for (int i = 0; i < 8; i++) b.v[i] = b.v[i] * k + i;
    b.d += k;
    return b;
}
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int more(int x) { return x + 1; }
__device__ __noinline__ int twofold(int x) { return x * 2; }
__device__ __noinline__ int less(int x) { return x - 7; }

typedef int (*Function)(int);
__device__ Function table[3] = {more, twofold, less};
__constant__ Function constant_table[3] = {less, twofold, more};
__device__ int *kept[64];

extern "C" __global__ void prints(const char *word, int *out) {
    int t = threadIdx.x;
    out[t] = 100 + t; // delayed, where stores are
    int r = printf("thread %2d of %s: %5.2f %c %lld %x %d\n", t, word, t * 0.5, 'a' + t % 26,
                   (long long)t << 40, 255 + t, out[t]);
    if (t == 3) printf("no arguments\n");
    out[t] = r;
}

extern "C" __global__ void asserts(int limit) { assert((int)threadIdx.x < limit && "too many"); }

extern "C" __global__ void heap(int *out, int n) {
    int *p = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) p[i] = threadIdx.x + i;
    int s = 0;
    for (int i = 0; i < n; i++) s += p[i];
    out[threadIdx.x] = s;
    free(p);
}

extern "C" __global__ void keep(int n) {
    kept[threadIdx.x] = new int[n];
    kept[threadIdx.x][n - 1] = threadIdx.x * 3;
}
extern "C" __global__ void use(int *out, int n) {
    out[threadIdx.x] = kept[threadIdx.x][n - 1];
    delete[] kept[threadIdx.x];
}
extern "C" __global__ void use_freed(int *out) {
    volatile int *p = (int *)malloc(16);
    free((void *)p);
    out[threadIdx.x] = *p;
}
extern "C" __global__ void free_twice() {
    void *p = malloc(16);
    free(p);
    free(p);
}
extern "C" __global__ void too_much(int *out) { out[threadIdx.x] = malloc(1u << 30) == nullptr; }

extern "C" __global__ void virtuals(int *out) {
    Shape *s;
    if (threadIdx.x & 1) s = new Square(threadIdx.x);
    else s = new Rectangle(threadIdx.x, 3);
    out[threadIdx.x] = s->area(2);
    delete s;
}
extern "C" __global__ void pointers(int *out) {
    int t = threadIdx.x;
    out[t] = table[t % 3](t) * 1000 + constant_table[t % 3](t);
}
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }
extern "C" __global__ void by_value(int *out) {
    Big b;
    for (int i = 0; i < 8; i++) b.v[i] = threadIdx.x + i;
    b.d = 0.5;
    Big c = twist(b, threadIdx.x);
    int s = 0;
    for (int i = 0; i < 8; i++) s += c.v[i];
    out[threadIdx.x] = s + (int)(c.d * 2);
}
extern "C" __global__ void growing(int *out, int n) {
    int t = threadIdx.x, size = n + t % 5;
    int *p = (int *)__builtin_alloca(size * sizeof(int));
    for (int i = 0; i < size; i++) p[i] = i * t;
    int s = fibonacci(t % 6);
    for (int i = 0; i < size; i++) s += p[i];
    out[t] = s;
}
extern "C" __global__ void large_parameter(const __grid_constant__ Huge h, int *out) {
    const int *p = &h.v[threadIdx.x];
    out[threadIdx.x] = h.v[threadIdx.x * 100 + 7] + *p;
}
extern "C" __global__ void spaces(int *out) {
    __shared__ int s;
    int local = threadIdx.x;
    out[threadIdx.x] = __isShared(&s) | __isLocal(&local) << 1 | __isGlobal(out) << 2 | __isShared(out) << 3;
}
