#include <cstdio>

struct Auction {
    volatile int bids;
    volatile int highest;
};

__global__ void bid(Auction *auction, const int *offers) {
    const int offer = offers[blockIdx.x];
    atomicAdd((int *)&auction->bids, 1);
    const int highest = auction->highest;
    if (offer > highest) {
        auction->highest = offer;
    }
}

int main() {
    const int offers[4] = {20, 90, 70, 50};
    int *device;
    Auction *auction;
    int host[2];
    cudaMalloc(&device, sizeof offers);
    cudaMalloc(&auction, sizeof(Auction));
    cudaMemcpy(device, offers, sizeof offers, cudaMemcpyHostToDevice);
    cudaMemset(auction, 0, sizeof(Auction));
    bid<<<4, 1>>>(auction, device);
    cudaMemcpy(host, auction, sizeof host, cudaMemcpyDeviceToHost);
    if (host[0] != 4 || host[1] != 90) {
        std::printf("%d bids, highest %d\n", host[0], host[1]);
        return 1;
    }
    return 0;
}
