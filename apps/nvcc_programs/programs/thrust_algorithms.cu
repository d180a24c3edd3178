// nvcc program:
// Thrust's vectors and algorithms on the device.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "check.h"

struct Square {
    __host__ __device__ long long operator()(int x) const { return (long long)x * x; }
};

int main() {
    const int n = 5000;
    thrust::device_vector<int> numbers(n);
    thrust::sequence(numbers.begin(), numbers.end());
    thrust::device_vector<long long> squares(n);
    thrust::transform(numbers.begin(), numbers.end(), squares.begin(), Square());
    EXPECT("sum of squares", thrust::reduce(squares.begin(), squares.end(), 0LL), (n - 1LL) * n * (2 * n - 1) / 6);

    Noise noise{3};
    thrust::host_vector<unsigned> keys(n);
    for (int i = 0; i < n; i++) keys[i] = noise.next();
    thrust::device_vector<unsigned> device_keys = keys;
    thrust::sort_by_key(device_keys.begin(), device_keys.end(), numbers.begin());
    thrust::host_vector<unsigned> sorted = device_keys;
    thrust::host_vector<int> order = numbers;
    for (int i = 0; i < n; i++) {
        if (i > 0) EXPECT("in order", sorted[i - 1] <= sorted[i], true);
        EXPECT("key of index", sorted[i], keys[order[i]]);
    }
    return 0;
}
