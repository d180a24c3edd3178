// What kernels of the suite compute, in C, in two forms: `threads` does one CUDA thread after another (between barriers, all
// threads of a block), `plain` is what a C programmer would write. Prints the seconds of the fastest of some runs; exits
// with 1 where there is no such twin.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 20, T = 256 };
static float a[N], b[N], out[N + 3];
static unsigned blocks, n, rounds;

#define EACH_THREAD for (unsigned t = 0; t < T; t++)
#define EACH_BLOCK for (unsigned block = 0; block < blocks; block++)

static void dot_threads(void)
{
    EACH_BLOCK {
        float cache[T];
        EACH_THREAD {
            float sum = 0;
            for (unsigned i = block * T + t; i < n; i += blocks * T) sum += a[i] * b[i];
            cache[t] = sum;
        }
        for (unsigned half = T / 2; half != 0; half /= 2)
            EACH_THREAD if (t < half) cache[t] += cache[t + half];
        out[0] += cache[0];
    }
}
static void dot_plain(void)
{
    float sum = 0;
    for (unsigned i = 0; i < n; i++) sum += a[i] * b[i];
    out[0] = sum;
}

static void fma_threads(void)
{
    EACH_BLOCK EACH_THREAD {
        float x = t, y = 0.5f;
        for (unsigned i = 0; i < rounds; i++) x = fmaf(x, y, 1.0f);
        out[block * T + t] = x;
    }
}
static void fma_plain(void)
{
    for (unsigned first = 0; first < blocks * T; first += 64) {
        float x[64];
        for (unsigned k = 0; k < 64; k++) x[k] = (first + k) % T;
        for (unsigned i = 0; i < rounds; i++)
            for (unsigned k = 0; k < 64; k++) x[k] = fmaf(x[k], 0.5f, 1.0f);
        memcpy(out + first, x, sizeof x);
    }
}

static void copy_threads(void)
{
    EACH_BLOCK EACH_THREAD for (unsigned i = block * T + t; i < n; i += blocks * T) out[i] = a[i];
}
static void copy_plain(void) { memcpy(out, a, n * sizeof *a); }

static void saxpy_threads(void)
{
    EACH_BLOCK EACH_THREAD {
        unsigned i = block * T + t;
        if (i < n) out[i] = 2.0f * a[i] + b[i];
    }
}
static void saxpy_plain(void)
{
    for (unsigned i = 0; i < n; i++) out[i] = 2.0f * a[i] + b[i];
}

static void tiled_threads(void)
{
    EACH_BLOCK {
        float x[16][16], y[16][16], sum[T] = {0};
        unsigned top = block / (n / 16) * 16, left = block % (n / 16) * 16;
        for (unsigned k = 0; k < n; k += 16) {
            EACH_THREAD {
                x[t / 16][t % 16] = a[(top + t / 16) * n + k + t % 16];
                y[t / 16][t % 16] = b[(k + t / 16) * n + left + t % 16];
            }
            EACH_THREAD for (unsigned i = 0; i < 16; i++) sum[t] += x[t / 16][i] * y[i][t % 16];
        }
        EACH_THREAD out[(top + t / 16) * n + left + t % 16] = sum[t];
    }
}
static void product_plain(void)
{
    memset(out, 0, n * n * sizeof *out);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n; k++)
            for (unsigned j = 0; j < n; j++) out[i * n + j] += a[i * n + k] * b[k * n + j];
}

static unsigned bin(unsigned i) { return (i * 2654435761u >> 8 ^ (unsigned)a[i]) & 255; }
static void histogram_threads(void)
{
    EACH_BLOCK {
        unsigned bins[256] = {0};
        EACH_THREAD for (unsigned i = block * T + t; i < n; i += blocks * T) bins[bin(i)]++;
        EACH_THREAD out[t] += bins[t];
    }
}
static void histogram_plain(void)
{
    unsigned bins[256] = {0};
    for (unsigned i = 0; i < n; i++) bins[bin(i)]++;
    for (unsigned i = 0; i < 256; i++) out[i] = bins[i];
}

static void spmv_threads(void)
{
    EACH_BLOCK EACH_THREAD {
        unsigned row = block * T + t;
        float sum = 0;
        for (unsigned j = 0; j < 16; j++) sum += a[row * 16 + j] * b[(row * 7 + j * 40503) & (n - 1)];
        out[row] = sum;
    }
}

static void nbody_threads(void)
{
    EACH_BLOCK EACH_THREAD {
        unsigned i = block * T + t;
        float x = a[i], y = b[i], z = a[i + n], fx = 0, fy = 0, fz = 0;
        for (unsigned k = 0; k < n; k++) {
            float dx = a[k] - x, dy = b[k] - y, dz = a[k + n] - z;
            float r = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = r * r * r;
            fx += f * dx, fy += f * dy, fz += f * dz;
        }
        out[i * 3] = fx, out[i * 3 + 1] = fy, out[i * 3 + 2] = fz;
    }
}

static void mandelbrot_threads(void)
{
    EACH_BLOCK EACH_THREAD {
        unsigned i = block * T + t, k = 0;
        float cx = (i % 256) / 128.0f - 1.5f, cy = i / 256 % 256 / 128.0f - 1.0f, x = 0, y = 0;
        for (; k < rounds && x * x + y * y < 4.0f; k++) {
            float u = x * x - y * y + cx;
            y = 2.0f * x * y + cy, x = u;
        }
        out[i] = k;
    }
}

static unsigned turn(unsigned x, unsigned by) { return x >> by | x << (32 - by); }
static void sha_threads(void)
{
    EACH_BLOCK EACH_THREAD {
        unsigned i = block * T + t, s[8], w[16];
        for (unsigned k = 0; k < 8; k++) s[k] = 0x6a09e667u * (k + 1);
        for (unsigned k = 0; k < 16; k++) w[k] = i * 2654435761u + k;
        for (unsigned round = 0; round < rounds; round += 16)
            for (unsigned k = 0; k < 16; k++) {
                unsigned e = s[4], c = s[0];
                unsigned v = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + w[k] + 0x428a2f98u;
                unsigned u = (turn(c, 2) ^ turn(c, 13) ^ turn(c, 22)) + ((c & s[1]) ^ (c & s[2]) ^ (s[1] & s[2]));
                unsigned p = w[(k + 1) % 16], q = w[(k + 14) % 16];
                w[k] += (turn(p, 7) ^ turn(p, 18) ^ p >> 3) + w[(k + 9) % 16] + (turn(q, 17) ^ turn(q, 19) ^ q >> 10);
                s[7] = s[6], s[6] = s[5], s[5] = e, s[4] = s[3] + v, s[3] = s[2], s[2] = s[1], s[1] = c, s[0] = v + u;
            }
        out[i] = (s[0] ^ s[4]) & 0x3fffffff;
    }
}

// A form that is the same in both ways stands under both.
static const struct { const char *kernel, *form; void (*run)(void); } twins[] = {
    {"dot", "threads", dot_threads}, {"dot", "plain", dot_plain},
    {"fma_chain", "threads", fma_threads}, {"fma_chain", "plain", fma_plain},
    {"copy", "threads", copy_threads}, {"copy", "plain", copy_plain},
    {"saxpy", "threads", saxpy_threads}, {"saxpy", "plain", saxpy_plain},
    {"tiled", "threads", tiled_threads}, {"tiled", "plain", product_plain},
    {"blocked", "plain", product_plain},
    {"histogram", "threads", histogram_threads}, {"histogram", "plain", histogram_plain},
    {"spmv", "threads", spmv_threads}, {"spmv", "plain", spmv_threads},
    {"nbody", "threads", nbody_threads}, {"nbody", "plain", nbody_threads},
    {"mandelbrot", "threads", mandelbrot_threads}, {"mandelbrot", "plain", mandelbrot_threads},
    {"sha", "threads", sha_threads}, {"sha", "plain", sha_threads},
};

int main(int count, char **arguments)
{
    if (count != 6) return 2;
    blocks = atoi(arguments[3]), n = atoi(arguments[4]), rounds = atoi(arguments[5]);
    for (unsigned i = 0; i < N; i++) a[i] = i % 251, b[i] = i % 7;
    for (unsigned which = 0; which < sizeof twins / sizeof *twins; which++) {
        if (strcmp(twins[which].kernel, arguments[1]) != 0 || strcmp(twins[which].form, arguments[2]) != 0) continue;
        double best = 1e9;
        for (int run = 0; run < 7; run++) {
            struct timespec from, to;
            memset(out, 0, sizeof out);
            clock_gettime(CLOCK_MONOTONIC, &from);
            twins[which].run();
            clock_gettime(CLOCK_MONOTONIC, &to);
            double seconds = (to.tv_sec - from.tv_sec) + (to.tv_nsec - from.tv_nsec) * 1e-9;
            if (seconds < best) best = seconds;
        }
        float sum = 0;
        for (unsigned i = 0; i < N; i++) sum += out[i];
        fprintf(stderr, "%g\n", sum);
        printf("%.9f\n", best);
        return 0;
    }
    return 1;
}
