// nvcc program:
// Device-wide scan, reduction and radix sort of CUB, whose single-pass algorithms pass values between blocks.
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <vector>

#include "check.h"

template <typename Algorithm>
static void twice(Algorithm algorithm) {
    size_t bytes = 0;
    CHECK(algorithm(nullptr, bytes));
    void *scratch;
    CHECK(cudaMalloc(&scratch, bytes));
    CHECK(algorithm(scratch, bytes));
    CHECK(cudaFree(scratch));
}

int main() {
    const int n = 6000;
    Noise noise{7};
    std::vector<int> values(n);
    for (int &value : values) value = int(noise.next() % 1000) - 500;
    int *in, *out;
    CHECK(cudaMalloc(&in, n * sizeof(int)));
    CHECK(cudaMalloc(&out, n * sizeof(int)));
    CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    std::vector<int> result(n);

    twice([&](void *scratch, size_t &bytes) { return cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, n); });
    CHECK(cudaMemcpy(result.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += values[i];
        EXPECT("scan", result[i], sum);
    }

    twice([&](void *scratch, size_t &bytes) { return cub::DeviceReduce::Sum(scratch, bytes, in, out, n); });
    CHECK(cudaMemcpy(result.data(), out, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT("sum", result[0], sum);

    twice([&](void *scratch, size_t &bytes) { return cub::DeviceRadixSort::SortKeys(scratch, bytes, in, out, n); });
    CHECK(cudaMemcpy(result.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
    std::sort(values.begin(), values.end());
    for (int i = 0; i < n; i++) EXPECT("sort", result[i], values[i]);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return 0;
}
