// Loops around barriers whose number of rounds only the host knows. Each comes right, and most with one error.
// nvcc: -ptx -lineinfo -O3 -arch=compute_75

constexpr int T = 16;

// A tiled product of matrices of n columns. HURRIED: the next tile is loaded while others still read this one.
template <bool HURRIED>
static __device__ void product(const float *a, const float *b, float *c, int n) {
    __shared__ float left[T][T], right[T][T];
    const int x = threadIdx.x % T, y = threadIdx.x / T;
    float sum = 0;
    for (int tile = 0; tile < n; tile += T) {
        left[y][x] = a[y * n + tile + x];
        right[y][x] = tile + y < n ? b[(tile + y) * n + x] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; k++)
            sum += left[y][k] * right[k][x];
        if (!HURRIED)
            __syncthreads();
    }
    c[y * n + x] = sum;
}

extern "C" __global__ void __launch_bounds__(T * T) tiles(const float *a, const float *b, float *c, int n) {
    product<false>(a, b, c, n);
}

extern "C" __global__ void __launch_bounds__(T * T) tiles_hurried(const float *a, const float *b, float *c, int n) {
    product<true>(a, b, c, n);
}

// Two buffers by turns, with one barrier in a round. AHEAD: in every fourth round the buffer is read that is being written.
template <bool AHEAD>
static __device__ void turns(const float *in, float *out, int rounds) {
    __shared__ float buffer[2][128];
    const int t = threadIdx.x;
    float sum = 0;
    buffer[0][t] = in[t];
    __syncthreads();
    for (int round = 0; round < rounds; round++) {
        const int now = round & 1, read = AHEAD && round % 4 == 3 ? now ^ 1 : now;
        buffer[now ^ 1][t] = in[(round + 1) * 128 + t];
        sum += buffer[read][127 - t];
        __syncthreads();
    }
    out[t] = sum;
}

extern "C" __global__ void __launch_bounds__(128) buffers(const float *in, float *out, int rounds) {
    turns<false>(in, out, rounds);
}

extern "C" __global__ void __launch_bounds__(128) buffers_ahead(const float *in, float *out, int rounds) {
    turns<true>(in, out, rounds);
}

// A stencil that marches through nz planes, with a rim. RIMLESS: the barrier before a plane is written is missing.
template <bool RIMLESS>
static __device__ void march(const float *in, float *out, int nx, int ny, int nz) {
    __shared__ float plane[T + 2][T + 2];
    const int x = threadIdx.x % T, y = threadIdx.x / T;
    int at = y * nx + x;
    float behind = in[at], here = in[at + nx * ny];
    for (int z = 1; z < nz - 1; z++) {
        at += nx * ny;
        const float ahead = in[at + nx * ny];
        if (!RIMLESS)
            __syncthreads();
        if (y == 0) {
            plane[0][x + 1] = in[at - nx];
            plane[T + 1][x + 1] = in[at + T * nx];
        }
        if (x == 0) {
            plane[y + 1][0] = in[at - 1];
            plane[y + 1][T + 1] = in[at + T];
        }
        plane[y + 1][x + 1] = here;
        __syncthreads();
        out[at] = plane[y][x + 1] + plane[y + 2][x + 1] + plane[y + 1][x] + plane[y + 1][x + 2] + behind + ahead;
        behind = here;
        here = ahead;
    }
}

extern "C" __global__ void __launch_bounds__(T * T) planes(const float *in, float *out, int nx, int ny, int nz) {
    march<false>(in, out, nx, ny, nz);
}

extern "C" __global__ void __launch_bounds__(T * T) planes_rimless(const float *in, float *out, int nx, int ny, int nz) {
    march<true>(in, out, nx, ny, nz);
}

// A reduction in each round, whose own loop has an end that is known; the first thread's part is read by all in the end.
extern "C" __global__ void __launch_bounds__(256) rows(const float *in, float *out, int count) {
    __shared__ float part[256];
    const int t = threadIdx.x;
    for (int row = 0; row < count; row++) {
        part[t] = in[row * 256 + t];
        __syncthreads();
        for (int width = 128; width > 0; width >>= 1) {
            if (t < width)
                part[t] += part[t + width];
            __syncthreads();
        }
        out[row * 256 + t] = part[0];
        __syncthreads();
    }
}
