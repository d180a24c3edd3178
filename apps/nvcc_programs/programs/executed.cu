// nvcc program:
// A process that asks how many devices there are, and then has a program that it executes do all the work: itself. The first argument says
// what that does: `fault` (stores behind an allocation, and asks for no status), `fine`.
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

__global__ void fill(int *words, int apart) {
    words[threadIdx.x * apart] = 1;
}

int main(int count, char **arguments) {
    if (count > 2) {
        int *words;
        CHECK(cudaMalloc(&words, 32 * sizeof(int)));
        fill<<<1, 32>>>(words, std::strcmp(arguments[1], "fault") ? 1 : 1 << 20);
        cudaDeviceSynchronize();
        return 0;
    }
    int devices = 0, status = 0;
    CHECK(cudaGetDeviceCount(&devices));
    if (fork() == 0) {
        execl("/proc/self/exe", arguments[0], arguments[1], "child", nullptr);
        _exit(9);
    }
    wait(&status);
    return WEXITSTATUS(status);
}
