// Calls: by value, through a table of functions, recursive, with local arrays on both sides.
//! buffer out u32 64
//! launch calls 1 64 : out u32:1
//! expect out = 14 9 23 24 37 36 45 58 49 60 53 70 67 87 80 104 79 106 88 121 97 133 110 155 114 152 118 167 132 184 140 201 144 203 153 213 162 230 175 252 174 249 183 264 197 276 205 298 209 300 213 310 227 327 240 344 239 346 248 361 257 373 270 395
typedef int (*Step)(int);
__device__ __noinline__ int triple(int x) { return x * 3; }
__device__ __noinline__ int plus7(int x) { return x + 7; }
__device__ Step steps[2] = {triple, plus7};
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
struct Record { int a[5]; double d; };
__device__ __noinline__ Record shift(Record s, int k)
{
    for (int i = 0; i < 5; i++)
        s.a[i] += k;
    s.d *= 2;
    return s;
}
extern "C" __global__ void calls(int *out, int which)
{
    int i = threadIdx.x;
    Record s;
    for (int j = 0; j < 5; j++)
        s.a[j] = j;
    s.d = i;
    s = shift(s, i);
    out[i] = steps[(i + which) & 1](i) + fib(i % 8) + s.a[i % 5] + (int)s.d;
    int local[8];
    for (int j = 0; j < 8; j++)
        local[(j * i) & 7] = j;
    out[i] += local[i & 7];
}
