// nvcc program: -arch=sm_90
// Clusters of blocks whose size the launch says, the kernel, or both: a histogram whose bins lie in the shared memory of all
// blocks of a cluster; and what the occupancy calls, the function's attributes and wrong sizes have to say.
#include <cooperative_groups.h>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;
const int BINS = 64, NUMBERS = 6000;

__global__ void histogram(const int *numbers, int *bins, int bins_each) {
    extern __shared__ int mine[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_each; i += blockDim.x) mine[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < NUMBERS; i += gridDim.x * blockDim.x) {
        int bin = numbers[i];
        atomicAdd(&cluster.map_shared_rank(mine, bin / bins_each)[bin % bins_each], 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < bins_each; i += blockDim.x)
        atomicAdd(&bins[cluster.block_rank() * bins_each + i], mine[i]);
}

__global__ void __cluster_dims__(2, 1, 1) neighbours(int *out) {
    __shared__ int value;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) value = blockIdx.x * 10;
    cluster.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = *cluster.map_shared_rank(&value, cluster.block_rank() ^ 1);
    cluster.sync();
}

struct Launch {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    Launch(int blocks, int threads, int shared, int cluster) {
        config.gridDim = blocks, config.blockDim = threads, config.dynamicSmemBytes = shared;
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {unsigned(cluster), 1, 1};
        config.attrs = &attribute, config.numAttrs = cluster > 0;
    }
    const cudaLaunchConfig_t *pointer() const { return &config; }
};

int main() {
    Noise noise = {7};
    std::vector<int> numbers(NUMBERS), want(BINS), got(BINS);
    for (int &number : numbers) want[number = noise.next() % BINS]++;
    int *in, *out;
    CHECK(cudaMalloc(&in, NUMBERS * sizeof(int)));
    CHECK(cudaMalloc(&out, BINS * sizeof(int)));
    CHECK(cudaMemcpy(in, numbers.data(), NUMBERS * sizeof(int), cudaMemcpyHostToDevice));
    for (int cluster : {1, 2, 4, 16}) {
        Launch launch(16, 64, BINS / cluster * sizeof(int), cluster);
        CHECK(cudaMemset(out, 0, BINS * sizeof(int)));
        if (cluster == 16) {
            EXPECT("16 are too many", cudaLaunchKernelEx(launch.pointer(), histogram, (const int *)in, out, 4),
                   cudaErrorInvalidClusterSize);
            EXPECT("the last error", cudaGetLastError(), cudaErrorInvalidClusterSize);
            CHECK(cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
        }
        int active = 0;
        CHECK(cudaOccupancyMaxActiveClusters(&active, histogram, launch.pointer()));
        EXPECT("some clusters fit", active >= 1, true);
        CHECK(cudaLaunchKernelEx(launch.pointer(), histogram, (const int *)in, out, BINS / cluster));
        CHECK(cudaMemcpy(got.data(), out, BINS * sizeof(int), cudaMemcpyDeviceToHost));
        for (int bin = 0; bin < BINS; bin++) EXPECT("bin", got[bin], want[bin]);
    }
    int size = 0;
    CHECK(cudaOccupancyMaxPotentialClusterSize(&size, neighbours, Launch(4, 32, 0, 0).pointer()));
    EXPECT("portable size", size, 8);
    neighbours<<<4, 32>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaLaunchKernelEx(Launch(4, 32, 0, 2).pointer(), neighbours, out));
    CHECK(cudaMemcpy(got.data(), out, 4 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++) EXPECT("neighbour", got[i], (i ^ 1) * 10);
    EXPECT("another size", cudaLaunchKernelEx(Launch(4, 32, 0, 4).pointer(), neighbours, out),
           cudaErrorInvalidClusterSize);
    EXPECT("no multiple", cudaLaunchKernelEx(Launch(5, 32, 0, 2).pointer(), neighbours, out),
           cudaErrorInvalidClusterSize);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, neighbours));
    EXPECT("required width", attributes.requiredClusterWidth, 2);
    CHECK(cudaFuncSetAttribute(histogram, cudaFuncAttributeRequiredClusterWidth, 2));
    CHECK(cudaMemset(out, 0, BINS * sizeof(int)));
    histogram<<<4, 64, BINS / 2 * sizeof(int)>>>(in, out, BINS / 2);
    CHECK(cudaMemcpy(got.data(), out, BINS * sizeof(int), cudaMemcpyDeviceToHost));
    for (int bin = 0; bin < BINS; bin++) EXPECT("bin", got[bin], want[bin]);
    std::puts("ok");
}
