#include <cstdio>
#include <cstdlib>

class Mutex {
  public:
    __device__ void lock() {
        while (atomicCAS(&held_, 0u, 1u) != 0u) {
            __nanosleep(40);
        }
        __threadfence();
    }

    __device__ void unlock() {
        atomicExch(&held_, 0u);
    }

  private:
    unsigned held_;
};

struct Extremes {
    int least, most;
    int seen;
};

__global__ void scan_readings(Mutex *mutex, Extremes *extremes, const int *readings) {
    const int mine = readings[blockIdx.x];
    mutex->lock();
    if (extremes->seen == 0 || mine < extremes->least) extremes->least = mine;
    if (extremes->seen == 0 || mine > extremes->most) extremes->most = mine;
    extremes->seen += 1;
    mutex->unlock();
}

int main() {
    const int readings[] = {7, -3, 12, 4, 9, -8};
    const int count = sizeof readings / sizeof *readings;
    Mutex *mutex;
    Extremes *extremes, found;
    int *device;
    cudaMalloc(&mutex, sizeof(Mutex));
    cudaMalloc(&extremes, sizeof(Extremes));
    cudaMalloc(&device, sizeof readings);
    cudaMemset(mutex, 0, sizeof(Mutex));
    cudaMemset(extremes, 0, sizeof(Extremes));
    cudaMemcpy(device, readings, sizeof readings, cudaMemcpyHostToDevice);
    scan_readings<<<count, 1>>>(mutex, extremes, device);
    if (cudaMemcpy(&found, extremes, sizeof found, cudaMemcpyDeviceToHost) != cudaSuccess) return EXIT_FAILURE;
    if (found.seen != count || found.least != -8 || found.most != 12) {
        std::printf("saw %d: %d to %d\n", found.seen, found.least, found.most);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
