// wmma of every type, shape and layout against sums of products, in small integers, which all types hold exactly.
// nvcc: -ptx -arch=compute_80
//! buffer wrong u32 16
//! launch all 1 32 : wrong
//! expect wrong = 0@15 3648
#include <mma.h>
using namespace nvcuda::wmma;
template <class T> __device__ T small(int i, int j) { return T(float((i * 7 + j * 3) % 5 - 2)); }
template <> __device__ unsigned char small(int i, int j) { return (i * 7 + j * 3) % 5; }

template <int M, int N, int K, class A, class C, class LA, class LB, class E>
__device__ __noinline__ void one(unsigned *wrong, unsigned char *room)
{
    E *a = (E *)room, *b = a + M * K;
    C *c = (C *)(room + 2048);
    bool ra = std::is_same<LA, row_major>::value, rb = std::is_same<LB, row_major>::value;
#pragma unroll 1
    for (int e = threadIdx.x; e < M * K; e += 32)
        a[ra ? e : e % K * M + e / K] = small<E>(e / K, e % K);
#pragma unroll 1
    for (int e = threadIdx.x; e < K * N; e += 32)
        b[rb ? e : e % N * K + e / N] = small<E>(e % N, e / N + 1);
#pragma unroll 1
    for (int e = threadIdx.x; e < M * N; e += 32)
        c[e] = C(float(e % 7));
    __syncwarp();
    fragment<matrix_a, M, N, K, A, LA> fa;
    fragment<matrix_b, M, N, K, A, LB> fb;
    fragment<accumulator, M, N, K, C> fc;
    load_matrix_sync(fa, a, ra ? K : M);
    load_matrix_sync(fb, b, rb ? N : K);
    load_matrix_sync(fc, c, N, mem_row_major);
    mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] = fc.x[i] + C(1.0f);
    __syncwarp();
    store_matrix_sync(c, fc, M, mem_col_major);
    __syncwarp();
    unsigned bad = 0;
#pragma unroll 1
    for (int e = threadIdx.x; e < M * N; e += 32) {
        int i = e / N, j = e % N;
        float sum = e % 7 + 1;
    #pragma unroll 1
    for (int k = 0; k < K; k++)
            sum += float(small<E>(i, k)) * float(small<E>(j, k + 1));
        bad += float(c[j * M + i]) != sum;
    }
    atomicAdd(wrong, bad);
    __syncwarp();
}

template <int M, int N, int K, class A, class C, class E> __device__ __forceinline__ void layouts(unsigned *wrong, unsigned *done, unsigned char *room)
{
    one<M, N, K, A, C, row_major, col_major, E>(wrong, room);
    one<M, N, K, A, C, col_major, row_major, E>(wrong, room);
        if (threadIdx.x == 0)
        *done += M * N;
}

extern "C" __global__ void all(unsigned *wrong)
{
    __shared__ alignas(32) unsigned char room[4096];
    unsigned *done = wrong + 15;
    layouts<16, 16, 16, __half, float, __half>(wrong + 0, done, room);
    layouts<32, 8, 16, __half, float, __half>(wrong + 1, done, room);
    layouts<8, 32, 16, __half, float, __half>(wrong + 2, done, room);
    layouts<16, 16, 16, __half, __half, __half>(wrong + 3, done, room);
    layouts<32, 8, 16, __half, __half, __half>(wrong + 4, done, room);
    layouts<8, 32, 16, __half, __half, __half>(wrong + 5, done, room);
    layouts<16, 16, 16, __nv_bfloat16, float, __nv_bfloat16>(wrong + 6, done, room);
    layouts<32, 8, 16, __nv_bfloat16, float, __nv_bfloat16>(wrong + 7, done, room);
    layouts<8, 32, 16, __nv_bfloat16, float, __nv_bfloat16>(wrong + 8, done, room);
    layouts<16, 16, 16, signed char, int, signed char>(wrong + 9, done, room);
    layouts<32, 8, 16, signed char, int, signed char>(wrong + 10, done, room);
    layouts<8, 32, 16, unsigned char, int, unsigned char>(wrong + 11, done, room);
    layouts<16, 16, 16, unsigned char, int, unsigned char>(wrong + 12, done, room);
    layouts<16, 16, 8, precision::tf32, float, float>(wrong + 13, done, room);
    layouts<8, 8, 4, double, double, double>(wrong + 14, done, room);
}
