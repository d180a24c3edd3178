// A kernel whose blocks exchange values across grid.sync(), several times.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void rotate(unsigned *values, unsigned *spare, unsigned rounds) {
    cg::grid_group grid = cg::this_grid();
    unsigned n = grid.size(), at = grid.thread_rank();
    for (unsigned round = 0; round < rounds; ++round) {
        spare[at] = values[(at + 1) % n] + (grid.is_valid() ? 1 : 1000000);
        grid.sync();
        values[at] = spare[at];
        grid.sync();
    }
}
