// Texture objects through the runtime: arrays, linear and pitched memory, what is refused and what is told.
#include "check.h"

static __global__ void whole(cudaTextureObject_t texture, float *out) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * 8 + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

template <int dimensions> static __global__ void one(cudaTextureObject_t texture, float x, float y, float z, float4 *out) {
    if (dimensions == 1) *out = tex1D<float4>(texture, x);
    if (dimensions == 2) *out = tex2D<float4>(texture, x, y);
    if (dimensions == 3) *out = tex3D<float4>(texture, x, y, z);
}

template <class type> static __global__ void fetch(cudaTextureObject_t texture, type *out) {
    out[threadIdx.x] = tex1Dfetch<type>(texture, (int)threadIdx.x - 1);
}

static cudaTextureDesc plain() {
    cudaTextureDesc how = {};
    for (int i = 0; i < 3; i++) how.addressMode[i] = cudaAddressModeClamp;
    return how;
}

static bool near(float a, float b) { return a - b < 1e-5f && b - a < 1e-5f; }

static void planes() {
    float content[4][8], out[32], *device;
    for (int i = 0; i < 32; i++) content[i / 8][i % 8] = (float)(i * i);
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &channels, 8, 4));
    OK(cudaMemcpy2DToArray(array, 0, 0, content, 32, 32, 4, cudaMemcpyHostToDevice));
    OK(cudaMalloc(&device, sizeof out));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = plain();
    cudaTextureObject_t texture = 0;
    OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    whole<<<1, dim3(8, 4)>>>(texture, device);
    OK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(memcmp(out, content, sizeof out) == 0);
    cudaResourceDesc told = {};
    cudaTextureDesc toldHow = {};
    cudaResourceViewDesc view;
    OK(cudaGetTextureObjectResourceDesc(&told, texture));
    OK(cudaGetTextureObjectTextureDesc(&toldHow, texture));
    CHECK(told.resType == cudaResourceTypeArray && told.res.array.array == array);
    CHECK(toldHow.readMode == cudaReadModeElementType && toldHow.addressMode[1] == cudaAddressModeClamp);
    GIVES(cudaErrorInvalidValue, cudaGetTextureObjectResourceViewDesc(&view, texture));
    OK(cudaDestroyTextureObject(texture));
    GIVES(cudaErrorInvalidValue, cudaDestroyTextureObject(texture));
    OK(cudaDestroyTextureObject(0));

    // Filtered, repeated: half way between the last column and the first.
    how.filterMode = cudaFilterModeLinear;
    how.normalizedCoords = 1;
    how.addressMode[0] = cudaAddressModeWrap;
    OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    float4 texel, *place;
    OK(cudaMalloc(&place, sizeof texel));
    one<2><<<1, 1>>>(texture, 1.0f, 1.5f / 4, 0, place);
    OK(cudaMemcpy(&texel, place, sizeof texel, cudaMemcpyDeviceToHost));
    CHECK(near(texel.x, (content[1][7] + content[1][0]) / 2));
    OK(cudaDestroyTextureObject(texture));
    how.addressMode[0] = (cudaTextureAddressMode)7;
    GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(nullptr, &resource, &how, nullptr));
    GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, nullptr, &how, nullptr));
    GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &resource, nullptr, nullptr));
    OK(cudaFree(place));
    OK(cudaFree(device));
    OK(cudaFreeArray(array));
}

static void bytes() {
    uchar4 content[2][3][4], *host = &content[0][0][0];
    for (int i = 0; i < 24; i++) host[i] = make_uchar4(i, 2 * i, 3 * i, 255 - i);
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<uchar4>();
    cudaArray_t array;
    OK(cudaMalloc3DArray(&array, &channels, make_cudaExtent(4, 3, 2)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(content, 16, 4, 3);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(4, 3, 2);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = plain();
    how.readMode = cudaReadModeNormalizedFloat;
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    float4 texel, *place;
    OK(cudaMalloc(&place, sizeof texel));
    one<3><<<1, 1>>>(texture, 2.0f, 1.5f, 1.0f, place);
    OK(cudaMemcpy(&texel, place, sizeof texel, cudaMemcpyDeviceToHost));
    // Between columns 1 and 2 and slices 0 and 1, in row 1: texels 5, 6, 17, 18.
    CHECK(near(texel.x, 11.5f / 255) && near(texel.y, 23.0f / 255) && near(texel.w, 243.5f / 255));
    OK(cudaDestroyTextureObject(texture));
    how.readMode = cudaReadModeElementType;
    GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    OK(cudaFree(place));
    OK(cudaFreeArray(array));
}

static void lines() {
    short2 content[16], out[18], *device, *to;
    for (int i = 0; i < 16; i++) content[i] = make_short2(-i, i);
    OK(cudaMalloc(&device, sizeof content));
    OK(cudaMalloc(&to, sizeof out));
    OK(cudaMemcpy(device, content, sizeof content, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device;
    resource.res.linear.desc = cudaCreateChannelDesc<short2>();
    resource.res.linear.sizeInBytes = sizeof content;
    cudaTextureDesc how = plain();
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    fetch<<<1, 18>>>(texture, to);
    OK(cudaMemcpy(out, to, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(out[0].x == 0 && out[17].y == 0);
    CHECK(memcmp(out + 1, content, sizeof content) == 0);
    cudaResourceDesc told = {};
    OK(cudaGetTextureObjectResourceDesc(&told, texture));
    CHECK(told.res.linear.devPtr == device && told.res.linear.sizeInBytes == sizeof content);
    CHECK(told.res.linear.desc.y == 16 && told.res.linear.desc.f == cudaChannelFormatKindSigned);
    OK(cudaDestroyTextureObject(texture));
    resource.res.linear.desc.y = 8;
    GIVES(cudaErrorInvalidChannelDescriptor, cudaCreateTextureObject(&texture, &resource, &how, nullptr));

    float *rows, host[5][6];
    size_t pitch;
    for (int i = 0; i < 30; i++) host[i / 6][i % 6] = (float)i;
    OK(cudaMallocPitch(&rows, &pitch, 24, 5));
    OK(cudaMemcpy2D(rows, pitch, host, 24, 24, 5, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = rows;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = 6;
    resource.res.pitch2D.height = 5;
    resource.res.pitch2D.pitchInBytes = pitch;
    OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    float4 texel, *place;
    OK(cudaMalloc(&place, sizeof texel));
    one<2><<<1, 1>>>(texture, 3.9f, 4.1f, 0, place);
    OK(cudaMemcpy(&texel, place, sizeof texel, cudaMemcpyDeviceToHost));
    CHECK(texel.x == host[4][3]);
    OK(cudaGetTextureObjectResourceDesc(&told, texture));
    CHECK(told.res.pitch2D.height == 5 && told.res.pitch2D.pitchInBytes == pitch);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(place));
    OK(cudaFree(rows));
    OK(cudaFree(to));
    OK(cudaFree(device));
}

int main() {
    planes();
    bytes();
    lines();
    return wrong != 0;
}
