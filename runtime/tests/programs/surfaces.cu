// Surface objects through the runtime: what kernels write and read, at edges and beyond, and what is refused.
#include "check.h"

static __global__ void fill(cudaSurfaceObject_t surface, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    // Beyond the edges nothing is written.
    surf2Dwrite(make_short4(x, y, x + y, -1), surface, x * 8, y, cudaBoundaryModeZero);
}

static __global__ void twice(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    short4 v = surf2Dread<short4>(from, threadIdx.x * 8, threadIdx.y);
    surf2Dwrite(make_short4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w), to, threadIdx.x * 8, threadIdx.y);
}

static __global__ void edges(cudaSurfaceObject_t surface, short *out) {
    out[0] = surf2Dread<short>(surface, -2, 1, cudaBoundaryModeZero);
    out[1] = surf2Dread<short>(surface, 100, 1, cudaBoundaryModeClamp);
    out[2] = surf2Dread<short>(surface, -100, 100, cudaBoundaryModeClamp);
    out[3] = surf2Dread<short2>(surface, 20, 2).y;
    out[4] = surf2Dread<short4>(surface, 16, 7, cudaBoundaryModeClamp).y;
}

static __global__ void outside(cudaSurfaceObject_t surface) { surf2Dwrite((short)1, surface, 1000, 0); }

static __global__ void bytes(cudaSurfaceObject_t surface, unsigned char *out) {
    unsigned char v = surf3Dread<unsigned char>(surface, threadIdx.x, threadIdx.y, threadIdx.z);
    out[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] = v;
    surf3Dwrite((unsigned char)(v + 100), surface, threadIdx.x, threadIdx.y, threadIdx.z);
}

static __global__ void line(cudaSurfaceObject_t surface) {
    long long v = surf1Dread<long long>(surface, threadIdx.x * 8);
    surf1Dwrite(v * v, surface, threadIdx.x * 8);
}

static __global__ void look(cudaTextureObject_t texture, short4 *out) {
    out[threadIdx.y * 5 + threadIdx.x] = tex2D<short4>(texture, threadIdx.x, threadIdx.y);
}

static cudaSurfaceObject_t surface(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface = 0;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    cudaResourceDesc told = {};
    OK(cudaGetSurfaceObjectResourceDesc(&told, surface));
    CHECK(told.res.array.array == array);
    return surface;
}

static void planes() {
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<short4>();
    cudaArray_t one, other, plain;
    OK(cudaMallocArray(&one, &channels, 5, 3, cudaArraySurfaceLoadStore));
    OK(cudaMallocArray(&other, &channels, 5, 3, cudaArraySurfaceLoadStore));
    OK(cudaMallocArray(&plain, &channels, 5, 3));
    cudaSurfaceObject_t from = surface(one), to = surface(other);
    fill<<<dim3(2, 2), dim3(4, 4)>>>(from, 5, 3);
    twice<<<1, dim3(5, 3)>>>(from, to);
    short4 texels[3][5];
    OK(cudaMemcpy2DFromArray(texels, 40, other, 0, 0, 40, 3, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 5; x++)
            CHECK(texels[y][x].x == 2 * x && texels[y][x].y == 2 * y && texels[y][x].z == 2 * (x + y) && texels[y][x].w == -2);
    short out[5], *device;
    OK(cudaMalloc(&device, sizeof out));
    edges<<<1, 1>>>(from, device);
    OK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(out[0] == 0 && out[1] == -1 && out[2] == 0 && out[3] == -1 && out[4] == 2);

    // A texture on the same array sees what an earlier kernel wrote.
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = other;
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    short4 *place;
    OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    OK(cudaMalloc(&place, sizeof texels));
    look<<<1, dim3(5, 3)>>>(texture, place);
    short4 seen[3][5];
    OK(cudaMemcpy(seen, place, sizeof seen, cudaMemcpyDeviceToHost));
    CHECK(memcmp(texels, seen, sizeof texels) == 0);
    // Neither is the other.
    GIVES(cudaErrorInvalidValue, cudaDestroySurfaceObject(texture));
    GIVES(cudaErrorInvalidValue, cudaDestroyTextureObject(from));
    GIVES(cudaErrorInvalidValue, cudaGetSurfaceObjectResourceDesc(&resource, texture));
    resource.res.array.array = plain;
    GIVES(cudaErrorInvalidValue, cudaCreateSurfaceObject(&from, &resource));
    GIVES(cudaErrorInvalidValue, cudaCreateSurfaceObject(nullptr, &resource));
    GIVES(cudaErrorInvalidValue, cudaCreateSurfaceObject(&from, nullptr));
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = place;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 64;
    GIVES(cudaErrorInvalidValue, cudaCreateSurfaceObject(&from, &resource));
    OK(cudaDestroyTextureObject(texture));
    OK(cudaDestroySurfaceObject(from));
    OK(cudaDestroySurfaceObject(to));
    OK(cudaFreeArray(one));
    OK(cudaFreeArray(other));
}

static void volumes() {
    unsigned char content[2][3][4], out[2][3][4], *device;
    for (int i = 0; i < 24; i++) (&content[0][0][0])[i] = (unsigned char)i;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t array;
    OK(cudaMalloc3DArray(&array, &channels, make_cudaExtent(4, 3, 2), cudaArraySurfaceLoadStore));
    cudaMemcpy3DParms in = {}, back = {};
    in.srcPtr = make_cudaPitchedPtr(content, 4, 4, 3);
    in.dstArray = array;
    in.extent = make_cudaExtent(4, 3, 2);
    in.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&in));
    OK(cudaMalloc(&device, sizeof out));
    cudaSurfaceObject_t object = surface(array);
    bytes<<<1, dim3(4, 3, 2)>>>(object, device);
    OK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(memcmp(out, content, sizeof out) == 0);
    back.srcArray = array;
    back.dstPtr = make_cudaPitchedPtr(out, 4, 4, 3);
    back.extent = in.extent;
    back.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&back));
    for (int i = 0; i < 24; i++) CHECK((&out[0][0][0])[i] == i + 100);

    long long numbers[8];
    for (int i = 0; i < 8; i++) numbers[i] = 1ll << 4 * i;
    channels = cudaCreateChannelDesc<int2>();
    cudaArray_t row;
    OK(cudaMallocArray(&row, &channels, 8, 0, cudaArraySurfaceLoadStore));
    OK(cudaMemcpy2DToArray(row, 0, 0, numbers, 64, 64, 1, cudaMemcpyHostToDevice));
    line<<<1, 8>>>(surface(row));
    OK(cudaMemcpy2DFromArray(numbers, 64, row, 0, 0, 64, 1, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++) CHECK(numbers[i] == 1ll << 8 * i);
}

int main() {
    planes();
    volumes();
    // The last one: the context is broken then.
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<short>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &channels, 4, 4, cudaArraySurfaceLoadStore));
    outside<<<1, 1>>>(surface(array));
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return wrong != 0;
}
