#include <cstdio>

__global__ void oneliner(int *d, volatile int *f, int *out) {
    if (blockIdx.x == 0) { d[0] = 6; *f = 1; }
    else { while (!*f) {} __threadfence(); out[0] = d[0]; }
}

int main() {
    int *m, six = 0;
    cudaMalloc(&m, 3 * sizeof(int)); cudaMemset(m, 0, 3 * sizeof(int));
    oneliner<<<2, 1>>>(m, m + 1, m + 2);
    cudaMemcpy(&six, m + 2, sizeof(int), cudaMemcpyDeviceToHost);
    if (six != 6) { std::printf("%d\n", six); return 1; }
    return 0;
}
