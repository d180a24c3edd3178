// race: ptx=none barracuda=none | workers take task numbers by an atomic; a task is one worker's
__device__ int head, done[16];

__global__ void work() {
    while (true) {
        int task = atomicAdd(&head, 1);
        if (task >= 16) return;
        done[task] = done[task] + 1;
    }
}

int main() {
    work<<<4, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
