#include <cstdio>

struct Parcel {
    int weight;
    volatile int sent;
};

// Express parcels go on a path of their own.
__device__ void ship(Parcel *parcel, int weight, bool express) {
    if (express) {
        parcel->weight = -weight;
        parcel->sent = 2;
    } else {
        parcel->weight = weight;
        __threadfence();
        parcel->sent = 1;
    }
}

__global__ void depot(Parcel *parcels, const bool *express, int *received) {
    const int which = blockIdx.x / 2;
    if (blockIdx.x % 2 == 0) {
        ship(parcels + which, 100 + which, express[which]);
    } else {
        while (parcels[which].sent == 0) {
        }
        __threadfence();
        received[which] = parcels[which].weight;
    }
}

int main() {
    const bool express[3] = {false, true, false};
    bool *flags;
    Parcel *parcels;
    int *received, got[3];
    cudaMalloc(&flags, sizeof express);
    cudaMalloc(&parcels, 3 * sizeof(Parcel));
    cudaMalloc(&received, sizeof got);
    cudaMemcpy(flags, express, sizeof express, cudaMemcpyHostToDevice);
    cudaMemset(parcels, 0, 3 * sizeof(Parcel));
    depot<<<6, 1>>>(parcels, flags, received);
    cudaMemcpy(got, received, sizeof got, cudaMemcpyDeviceToHost);
    if (got[0] != 100 || got[1] != -101 || got[2] != 102) {
        std::printf("%d %d %d\n", got[0], got[1], got[2]);
        return 1;
    }
    return 0;
}
