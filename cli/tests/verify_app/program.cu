// Launches of every sort, as the first argument says, for `bugaroo verify`.

#include <cstdio>
#include <cstdlib>
#include <cstring>

__constant__ int rounds;
__constant__ int widths[2] = {1, 2};

// As many rounds of barriers as a constant says.
__global__ void turn(int *out, int n) {
    __shared__ int box[128];
    box[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        int value = box[(threadIdx.x + widths[i & 1]) % 128];
        __syncthreads();
        box[threadIdx.x] = value;
        __syncthreads();
    }
    if (threadIdx.x < n) out[threadIdx.x] = box[127 - threadIdx.x];
}

// Without the barrier that it needs.
__global__ void missing(int *out) {
    __shared__ int box[128];
    box[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = box[127 - threadIdx.x];
}

// A barrier that some threads of the last block do not come to, and do not end before either.
__global__ void ragged(int *out, int n) {
    __shared__ int box[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    int sum = 0;
    if (i < n) {
        box[threadIdx.x] = i;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        sum = box[63 - threadIdx.x];
    }
    asm volatile("bar.sync 2, 64;" ::: "memory");
    if (i < n) out[i] = sum;
}

static int *memory() {
    void *place = nullptr;
    if (cudaMalloc(&place, 1 << 16) != cudaSuccess) exit(3);
    return static_cast<int *>(place);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    auto is = [&](const char *name) { return strcmp(what, name) == 0; };
    if (is("constants")) {
        for (int r = 0; r < 3; r++) {
            cudaMemcpyToSymbol(rounds, &r, sizeof r);
            turn<<<2, 128>>>(memory(), 100);
        }
    } else if (is("thousand")) {
        int *out = memory();
        for (int i = 0; i < 1000; i++) turn<<<2, 128>>>(out + i, 100 + i % 7);
    } else if (is("missing")) {
        for (int i = 0; i < 3; i++) missing<<<4, 128>>>(memory());
        turn<<<1, 128>>>(memory(), 10);
    } else if (is("ragged")) {
        ragged<<<16, 64>>>(memory(), argc > 2 ? atoi(argv[2]) : 1024);
    } else if (is("shapes")) {
        int *out = memory();
        for (int i = 0; i < 30; i++) missing<<<1, 128 - 4 * i>>>(out);
    } else if (is("crash")) {
        turn<<<1, 128>>>(memory(), 10);
        cudaDeviceSynchronize();
        abort();
    } else if (is("fault")) {
        turn<<<1, 128>>>(nullptr, 10);
    } else if (is("spins")) {
        turn<<<1, 128>>>(memory(), 10);
        cudaDeviceSynchronize();
        for (volatile int i = 0;; i++) {
        }
    } else {
        memory();
    }
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "program: %s\n", cudaGetErrorString(error));
    return is("code") ? 7 : 0;
}
