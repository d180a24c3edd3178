// nvcc program:
// Textures and surfaces as programs use them: a blur through a filtered texture in tiles of shared memory, written to a surface, which the next
// launch looks at as a texture; a table of layers; a pyramid of levels. The host checks all of it.
#include "check.h"

const int WIDTH = 48, HEIGHT = 32;

// Means of four neighbours: filtering at the corners of texels does it by itself.
__global__ void blur(cudaTextureObject_t from, cudaSurfaceObject_t to) {
    __shared__ float tile[8][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = tex2D<float>(from, x + 1.0f, y + 1.0f);
    __syncthreads();
    // Turned within the tile, so that threads need each other's.
    surf2Dwrite(tile[7 - threadIdx.y][15 - threadIdx.x], to, x * 4, y);
}

__global__ void turned(cudaTextureObject_t from, float *out) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int tileX = blockIdx.x * 16 + 15 - threadIdx.x, tileY = blockIdx.y * 8 + 7 - threadIdx.y;
    out[y * WIDTH + x] = tex2D<float>(from, tileX + 0.5f, tileY + 0.5f);
}

// The sum of a table's entries; the last block adds up what all have found.
__global__ void sum(cudaTextureObject_t table, int count, float *parts, unsigned *done, float *total) {
    __shared__ float values[64];
    __shared__ bool last;
    int at = blockIdx.x * 64 + threadIdx.x;
    values[threadIdx.x] = at < count ? tex1Dfetch<float>(table, at) : 0;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        ((volatile float *)parts)[blockIdx.x] = values[0];
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
        if (last) {
            __threadfence();
            float all = 0;
            for (int i = 0; i < gridDim.x; i++) all += ((volatile float *)parts)[i];
            *total = all;
        }
    }
}

__global__ void layers(cudaTextureObject_t table, float *out) {
    out[blockIdx.x * 8 + threadIdx.x] = tex1DLayered<float>(table, threadIdx.x + 0.5f, blockIdx.x);
}

__global__ void levels(cudaTextureObject_t pyramid, float *out) {
    out[threadIdx.x] = tex2DLod<float>(pyramid, 0.5f, 0.5f, threadIdx.x * 0.5f);
}

cudaTextureDesc how(bool linear, bool normalized) {
    cudaTextureDesc how = {};
    for (auto &mode : how.addressMode) mode = cudaAddressModeClamp;
    how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    how.normalizedCoords = normalized;
    how.mipmapFilterMode = how.filterMode;
    how.maxMipmapLevelClamp = 10;
    return how;
}

cudaTextureObject_t looks(const cudaResourceDesc &resource, const cudaTextureDesc &how) {
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
}

cudaResourceDesc of(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

void images() {
    static float image[HEIGHT][WIDTH], out[HEIGHT][WIDTH];
    Noise noise = {1};
    for (auto &row : image)
        for (auto &value : row) value = float(noise.next() % 64);
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaArray_t from, to;
    CHECK(cudaMallocArray(&from, &channels, WIDTH, HEIGHT));
    CHECK(cudaMallocArray(&to, &channels, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(from, 0, 0, image, WIDTH * 4, WIDTH * 4, HEIGHT, cudaMemcpyHostToDevice));
    cudaTextureObject_t texture = looks(of(from), how(true, false)), after = looks(of(to), how(false, false));
    cudaSurfaceObject_t surface;
    cudaResourceDesc resource = of(to);
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    float *device;
    CHECK(cudaMalloc(&device, sizeof out));
    blur<<<dim3(WIDTH / 16, HEIGHT / 8), dim3(16, 8)>>>(texture, surface);
    turned<<<dim3(WIDTH / 16, HEIGHT / 8), dim3(16, 8)>>>(after, device);
    // Right behind the launch, as many programs do.
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaDestroyTextureObject(after));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int right = x + 1 < WIDTH ? x + 1 : x, below = y + 1 < HEIGHT ? y + 1 : y;
            EXPECT("blur", out[y][x], (image[y][x] + image[y][right] + image[below][x] + image[below][right]) / 4);
        }
    CHECK(cudaFreeArray(from));
    CHECK(cudaFreeArray(to));
    CHECK(cudaFree(device));
}

void tables() {
    float content[500], *table, *parts, *total, want = 0, found;
    unsigned *done;
    for (int i = 0; i < 500; i++) want += content[i] = float(i % 7);
    CHECK(cudaMalloc(&table, sizeof content));
    CHECK(cudaMemcpy(table, content, sizeof content, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&parts, 32));
    CHECK(cudaMalloc(&total, 4));
    CHECK(cudaMalloc(&done, 4));
    CHECK(cudaMemset(done, 0, 4));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = table;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = sizeof content;
    sum<<<8, 64>>>(looks(resource, how(false, false)), 500, parts, done, total);
    CHECK(cudaMemcpy(&found, total, 4, cudaMemcpyDeviceToHost));
    EXPECT("sum", found, want);

    float rows[32], out[32], *device;
    for (int i = 0; i < 32; i++) rows[i] = float(i);
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &channels, make_cudaExtent(8, 0, 4), cudaArrayLayered));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(rows, 32, 8, 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(8, 1, 4);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    CHECK(cudaMalloc(&device, sizeof out));
    layers<<<4, 8>>>(looks(of(array), how(false, false)), device);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) EXPECT("layer", out[i], float(i));
}

void pyramids() {
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t pyramid;
    CHECK(cudaMallocMipmappedArray(&pyramid, &channels, make_cudaExtent(16, 16, 0), 3));
    for (int level = 0; level < 3; level++) {
        int size = 16 >> level;
        static float content[256];
        for (auto &value : content) value = float(100 * level);
        cudaArray_t array;
        CHECK(cudaGetMipmappedArrayLevel(&array, pyramid, level));
        CHECK(cudaMemcpy2DToArray(array, 0, 0, content, size * 4, size * 4, size, cudaMemcpyHostToDevice));
    }
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = pyramid;
    float out[6], *device;
    CHECK(cudaMalloc(&device, sizeof out));
    levels<<<1, 6>>>(looks(resource, how(true, true)), device);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 6; i++) EXPECT("level", out[i], i < 4 ? 50.0f * i : 200.0f);
    CHECK(cudaFreeMipmappedArray(pyramid));
}

int main() {
    images();
    tables();
    pyramids();
    return 0;
}
