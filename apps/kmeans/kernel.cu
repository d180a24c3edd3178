// The device's part of k-means clustering, after the kmeans benchmark of Rodinia (Che et al., 2009):
// points are transposed once, then each iteration assigns every point to its nearest centre; the host
// moves the centres. A thread works on one point and stores nowhere that another thread loads from in
// the same launch. There is neither shared memory nor any synchronisation.

// Transposes `points` (one after the other, `features` values each) into `by_feature` (feature after
// feature, a value for each point). Needs a thread for each point.
extern "C" __global__ void transpose(const float *__restrict__ points, float *__restrict__ by_feature, int size,
                                     int features) {
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= size) return;
    for (int feature = 0; feature < features; ++feature) {
        by_feature[feature * size + point] = points[point * features + feature];
    }
}

// Stores for each point the number of the centre with the least squared distance, the first of several.
// `centres` stand one after the other. Needs a thread for each point. Products and sums are rounded
// one by one, never fused, so that the host can compute the very same distances.
extern "C" __global__ void assign(const float *__restrict__ by_feature, const float *__restrict__ centres,
                                  int *__restrict__ membership, int size, int features, int clusters) {
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= size) return;
    int nearest = -1;
    float least = __int_as_float(0x7f800000);  // infinity
    for (int cluster = 0; cluster < clusters; ++cluster) {
        float distance = 0.0f;
        for (int feature = 0; feature < features; ++feature) {
            const float difference = by_feature[feature * size + point] - centres[cluster * features + feature];
            distance = __fadd_rn(distance, __fmul_rn(difference, difference));
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    membership[point] = nearest;
}
