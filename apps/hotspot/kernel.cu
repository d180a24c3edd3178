// Temperatures of a processor's floor plan over time: an explicit five-point stencil with pyramidal
// blocking, after the hotspot benchmark of Rodinia (Che et al., 2009). A block loads a tile of 16 by 16
// cells and brings it several steps further in shared memory. Each step costs the tile its outermost
// ring, whose neighbours it does not know, so tiles overlap by the ring's width times the steps.
//
// Threads communicate through shared memory alone; a barrier stands between every store and the
// loads of other threads, on both sides. Each cell of the result is stored by exactly one thread.

constexpr int kTile = 16;

// Brings the temperatures in `from` `steps` further, into `to`: squares of `size` cells, in kelvin.
// `power` is the heat made in each cell in watts. A step adds to a cell's temperature
//     heating * power + lateral * (sum of the differences to its neighbours) + vertical * (ambient - it).
// The grid must be ceil(size / (16 - 2 * steps)) blocks in x and in y, of 16 by 16 threads.
extern "C" __global__ void hotspot(const float *__restrict__ power, const float *__restrict__ from,
                                   float *__restrict__ to, int size, int steps, float heating,
                                   float lateral, float vertical, float ambient) {
    __shared__ float temperature[kTile][kTile];
    __shared__ float heat[kTile][kTile];
    __shared__ float later[kTile][kTile];

    const int column = threadIdx.x;
    const int row = threadIdx.y;
    const int advance = kTile - 2 * steps;  // side of the square whose result is this block's
    const int left = advance * static_cast<int>(blockIdx.x) - steps;
    const int top = advance * static_cast<int>(blockIdx.y) - steps;
    const int x = left + column;
    const int y = top + row;
    const bool on_chip = x >= 0 && x < size && y >= 0 && y < size;
    const int cell = y * size + x;
    if (on_chip) {
        temperature[row][column] = from[cell];
        heat[row][column] = power[cell];
    }
    __syncthreads();

    // A cell at the chip's edge is its own neighbour: no heat flows there.
    const int west = max(column - 1, max(0, -left));
    const int east = min(column + 1, min(kTile - 1, size - 1 - left));
    const int north = max(row - 1, max(0, -top));
    const int south = min(row + 1, min(kTile - 1, size - 1 - top));

    bool known = false;
    for (int step = 1; step <= steps; ++step) {
        known = on_chip && column >= step && column < kTile - step && row >= step && row < kTile - step;
        if (known) {
            const float here = temperature[row][column];
            const float around = (temperature[north][column] + temperature[south][column] - 2.0f * here) +
                                 (temperature[row][west] + temperature[row][east] - 2.0f * here);
            later[row][column] =
                here + (heating * heat[row][column] + lateral * around + vertical * (ambient - here));
        }
        __syncthreads();  // all have read this step's temperatures
        if (step == steps) break;
        if (known) temperature[row][column] = later[row][column];
        __syncthreads();  // all have written the next step's
    }
    if (known) to[cell] = later[row][column];
}
