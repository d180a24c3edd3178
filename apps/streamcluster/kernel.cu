// The device's part of online clustering, after the streamcluster benchmarks of PARSEC (Bienia et al.,
// 2008) and Rodinia (Che et al., 2009): what would each point gain if one more centre was opened?
//
// A thread works on one point and stores to that point's row and flag alone, so that threads
// need no synchronisation: the host adds the rows up and decides.

// `candidate` is the point at which a centre may be opened. The `size` points stand dimension after
// dimension in `coordinates`. `assigned` is the centre of each point, `cost` what it costs to go there (the
// squared distance), and `slot` gives each of the `centres` open centres a column. A row of `lower`
// has one float for each of them and a last one for the candidate:
//  - a point that is nearer to the candidate sets its flag in `switches` and adds the (negative) difference
//    to the last column,
//  - any other adds the (negative) difference to its centre's column: what is lost if that centre closes.
// `lower` and `switches` must be zero before the launch; it needs a thread for each point. Products and sums
// are rounded one by one, never fused, so that the host can compute the very same differences.
extern "C" __global__ void gain(const float *__restrict__ coordinates, const float *__restrict__ cost,
                                const int *__restrict__ assigned, const int *__restrict__ slot,
                                float *__restrict__ lower, unsigned char *__restrict__ switches, int size,
                                int dimensions, int candidate, int centres) {
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= size) return;
    float candidate_cost = 0.0f;
    for (int dimension = 0; dimension < dimensions; ++dimension) {
        const float *row = coordinates + dimension * size;
        const float difference = row[point] - row[candidate];
        candidate_cost = __fadd_rn(candidate_cost, __fmul_rn(difference, difference));
    }
    float *own = lower + static_cast<long long>(point) * (centres + 1);
    if (candidate_cost < cost[point]) {
        switches[point] = 1;
        own[centres] += candidate_cost - cost[point];
    } else {
        own[slot[assigned[point]]] += cost[point] - candidate_cost;
    }
}
