// nvcc program: -arch=sm_90 -rdc=true -lineinfo -g
// Programs that do what no kernel may, one a name, and never look at an error: each ends with exit code 0. The line that
// is at fault carries the name in a comment.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__device__ int sink;
__constant__ int table[4] = {1, 2, 3, 4};
__device__ int counters[8];

__global__ void write_at(int *a, long i) {
    a[i] = 1;  // HERE write_past_end write_far_away write_before write_null use_after_free use_after_async_free host_pointer read_only_host
}

__global__ void read_at(const int *a, long i) {
    sink = a[i];  // HERE read_past_end read_freed_in_other_stream
}

__global__ void write_one(int *a) {
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // HERE second_launch second_stream graph
}

__global__ void misaligned_4(char *a) {
    *reinterpret_cast<int *>(a + 2) = 1;  // HERE misaligned_4
}

__global__ void misaligned_8(char *a) {
    *reinterpret_cast<double *>(a + 4) = 1;  // HERE misaligned_8
}

__global__ void misaligned_16(char *a) {
    *reinterpret_cast<float4 *>(a + 8) = float4{1, 2, 3, 4};  // HERE misaligned_16
}

__global__ void misaligned_atomic(char *a) {
    atomicAdd(reinterpret_cast<unsigned *>(a + 1), 1u);  // HERE misaligned_atomic
}

__global__ void shared_static(int i) {
    __shared__ int tile[32];
    tile[threadIdx.x] = i;
    __syncthreads();
    sink = tile[i + threadIdx.x];  // HERE shared_static
}

__global__ void shared_dynamic(int i) {
    extern __shared__ int space[];
    space[threadIdx.x + i] = i;  // HERE shared_dynamic
    __syncthreads();
    sink = space[0];
}

__device__ __noinline__ void through(int *p, int v) {
    *p = v;  // HERE shared_generic
}

__global__ void shared_generic(int i) {
    __shared__ int tile[32];
    tile[threadIdx.x] = 0;
    through(tile + i, 1);
    __syncthreads();
    sink = tile[0];
}

__global__ void local_array(int i) {
    int mine[8];
    for (int k = 0; k < 8; k++) mine[k] = k * i;
    mine[i * 1000003] = 7;  // HERE local_array
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += mine[(k * i) & 7];
    sink = sum;
}

__global__ void variable_past_end(int i) {
    counters[i] = 5;  // HERE variable_past_end
}

__global__ void const_past_end(int i) {
    sink = table[i];  // HERE const_past_end
}

__global__ void trap() {
    if (threadIdx.x == 3) __trap();  // HERE trap
}

__global__ void assertion(int n) {
    if (n != 5) __assert_fail("n == 5", "hostile", 1, "assertion");  // HERE assertion
}

__global__ void divergence(int *a) {
    if (threadIdx.x < 16) {
        a[threadIdx.x] = 1;
        __syncthreads();
        a[threadIdx.x] += 1;
    } else {
        a[threadIdx.x] = 2;
        __syncthreads();  // HERE divergence
        a[threadIdx.x] += 2;
    }
}

__global__ void barrier_counts() {
    if (threadIdx.x < 32)
        asm volatile("barrier.sync 1, 64;" ::: "memory");
    else
        asm volatile("barrier.sync 1, 96;" ::: "memory");  // HERE barrier_counts
}

__global__ void barrier_illegal_count(int n) {
    asm volatile("barrier.sync 1, %0;" ::"r"(n) : "memory");  // HERE barrier_illegal_count
}

__global__ void half_block(int *a) {
    if (threadIdx.x < 32) {
        asm volatile("barrier.sync 1, 64;" ::: "memory");  // HERE half_block
        a[0] = 1;
    } else {
        asm volatile("barrier.sync 2, 64;" ::: "memory");  // HERE half_block
        a[1] = 1;
    }
}

__global__ void warp_mask() {
    sink = __shfl_sync(threadIdx.x == 0 ? 2u : 0xffffffffu, 1, 0);  // HERE warp_mask
}

__device__ __noinline__ int deeper(int n, int *a) {
    volatile int keep[64];
    keep[n & 63] = n;
    return n == 0 ? keep[0] : deeper(n + 1, a) + keep[(n + 1) & 63];  // HERE stack_overflow
}

__global__ void stack_overflow(int n, int *a) {
    sink = deeper(n, a);
}

__global__ void bad_printf(const char *text) {
    printf("%s\n", text);  // HERE bad_printf
}

__global__ void grid_sync() {
    cg::this_grid().sync();  // HERE grid_sync
}

__device__ int (*operation)(int);

__global__ void bad_call() {
    sink = operation(3);  // HERE bad_call
}

__global__ void double_free(int n) {
    void *p = malloc(n);
    free(p);
    free(p);  // HERE double_free
}

__global__ void child(int *a) {
    a[100 + threadIdx.x] = 1;  // HERE child
}

__global__ void parent(int *a) {
    child<<<1, 32>>>(a);
}

__global__ void spin(volatile int *flag) {
    while (*flag == 0) {  // HERE spin
    }
}

__global__ void too_many_blocks(unsigned *arrived) {
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (*static_cast<volatile unsigned *>(arrived) < gridDim.x) {  // HERE too_many_blocks
        }
    }
    __syncthreads();
}

template <typename T>
T *make(size_t n) {
    T *p = nullptr;
    cudaMalloc(&p, n * sizeof(T));
    return p;
}

static void run(const char *name) {
    auto is = [&](const char *other) { return std::strcmp(name, other) == 0; };
    int *a = make<int>(1);
    if (is("write_past_end")) write_at<<<1, 1>>>(a, 1000);
    if (is("write_far_away")) write_at<<<1, 1>>>(a, 1l << 34);
    if (is("write_before")) write_at<<<1, 1>>>(a, -2);
    if (is("write_null")) write_at<<<1, 1>>>(nullptr, 0);
    if (is("read_past_end")) read_at<<<1, 1>>>(a, 1);
    if (is("use_after_free")) {
        cudaFree(a);
        write_at<<<1, 1>>>(a, 0);
    }
    if (is("use_after_async_free")) {
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        int *b = nullptr;
        cudaMallocAsync(&b, 64, stream);
        write_at<<<1, 1, 0, stream>>>(b, 0);
        cudaFreeAsync(b, stream);
        write_at<<<1, 1, 0, stream>>>(b, 0);
    }
    if (is("read_freed_in_other_stream")) {
        cudaStream_t first, second;
        cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
        int *b = nullptr;
        cudaMallocAsync(&b, 64, first);
        cudaStreamSynchronize(first);
        cudaFreeAsync(b, first);
        cudaStreamSynchronize(first);
        read_at<<<1, 1, 0, second>>>(b, 3);
    }
    if (is("host_pointer")) write_at<<<1, 1>>>(static_cast<int *>(std::malloc(64)), 0);
    if (is("misaligned_4")) misaligned_4<<<1, 1>>>(reinterpret_cast<char *>(make<int>(64)));
    if (is("misaligned_8")) misaligned_8<<<1, 1>>>(reinterpret_cast<char *>(make<int>(64)));
    if (is("misaligned_16")) misaligned_16<<<1, 1>>>(reinterpret_cast<char *>(make<int>(64)));
    if (is("misaligned_atomic")) misaligned_atomic<<<1, 1>>>(reinterpret_cast<char *>(make<int>(64)));
    if (is("shared_static")) shared_static<<<1, 32>>>(1 << 20);
    if (is("shared_dynamic")) shared_dynamic<<<1, 32, 128>>>(1 << 20);
    if (is("shared_generic")) shared_generic<<<1, 32>>>(1 << 22);
    if (is("local_array")) local_array<<<1, 32>>>(3);
    if (is("variable_past_end")) variable_past_end<<<1, 1>>>(9);
    if (is("read_only_host")) {
        int *page = static_cast<int *>(std::aligned_alloc(4096, 4096));
        std::memset(page, 0, 4096);
        cudaHostRegister(page, 4096, cudaHostRegisterReadOnly);
        write_at<<<1, 1>>>(page, 0);
    }
    if (is("const_past_end")) const_past_end<<<1, 1>>>(1 << 24);
    if (is("trap")) trap<<<1, 32>>>();
    if (is("assertion")) assertion<<<1, 32>>>(4);
    if (is("divergence")) divergence<<<1, 32>>>(make<int>(64));
    if (is("barrier_counts")) barrier_counts<<<1, 64>>>();
    if (is("barrier_illegal_count")) barrier_illegal_count<<<1, 64>>>(33);
    if (is("half_block")) half_block<<<1, 64>>>(make<int>(64));
    if (is("warp_mask")) warp_mask<<<1, 32>>>();
    if (is("stack_overflow")) stack_overflow<<<1, 1>>>(1, a);
    if (is("bad_printf")) bad_printf<<<1, 1>>>(reinterpret_cast<const char *>(a) + (1 << 20));
    if (is("grid_sync")) grid_sync<<<2, 32>>>();
    if (is("bad_call")) bad_call<<<1, 1>>>();
    if (is("double_free")) double_free<<<1, 1>>>(24);
    if (is("second_launch")) {
        int *b = make<int>(64);
        write_one<<<2, 32>>>(b);
        cudaDeviceSynchronize();
        write_one<<<3, 32>>>(b);
    }
    if (is("second_stream")) {
        cudaStream_t first, second;
        cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
        int *b = make<int>(64);
        write_one<<<2, 32, 0, first>>>(b);
        write_one<<<3, 32, 0, second>>>(b);
    }
    if (is("graph")) {
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        int *b = make<int>(64);
        cudaGraph_t graph;
        cudaGraphExec_t ready;
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
        write_one<<<2, 32, 0, stream>>>(b);
        write_one<<<3, 32, 0, stream>>>(b);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&ready, graph, 0);
        cudaGraphLaunch(ready, stream);
    }
    if (is("child")) parent<<<1, 1>>>(make<int>(64));
    if (is("spin")) spin<<<1, 1>>>(a);
    if (is("too_many_blocks")) too_many_blocks<<<100000, 32>>>(reinterpret_cast<unsigned *>(a));
    // Two different ones, with a reset between, and the first twice.
    if (is("several")) {
        write_at<<<1, 1>>>(a, 1000);
        cudaDeviceReset();
        write_at<<<1, 1>>>(make<int>(1), 1000);
        cudaDeviceReset();
        misaligned_8<<<1, 1>>>(reinterpret_cast<char *>(make<int>(64)));
        cudaDeviceReset();
    }
}

int main(int count, char **names) {
    for (int i = 1; i < count; i++) run(names[i]);
    cudaDeviceSynchronize();
    std::puts("done");
    return 0;
}
