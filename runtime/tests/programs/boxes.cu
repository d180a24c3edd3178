// Copies of boxes, fills of boxes, and arrays.
#include "check.h"

static void boxes() {
    static unsigned char from[5][6][40], to[5][6][40];
    cudaExtent extent = make_cudaExtent(40, 6, 5);
    cudaPitchedPtr device;
    for (int i = 0; i < 1200; i++) (&from[0][0][0])[i] = (unsigned char)(i * 7);
    OK(cudaMalloc3D(&device, extent));
    CHECK(device.pitch >= 40 && device.xsize == 40 && device.ysize == 6);
    cudaMemcpy3DParms in = {}, out = {};
    in.srcPtr = make_cudaPitchedPtr(from, 40, 40, 6);
    in.dstPtr = device;
    in.extent = extent;
    in.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&in));
    out.srcPtr = device;
    out.dstPtr = make_cudaPitchedPtr(to, 40, 40, 6);
    out.extent = extent;
    out.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&out));
    CHECK(memcmp(from, to, sizeof to) == 0);
    OK(cudaMemset3D(device, 9, make_cudaExtent(10, 3, 5)));
    OK(cudaMemcpy3DAsync(&out, 0));
    OK(cudaDeviceSynchronize());
    CHECK(to[4][2][9] == 9 && to[4][2][10] == from[4][2][10] && to[4][3][0] == from[4][3][0]);
    out.srcPtr.ptr = nullptr;
    GIVES(cudaErrorInvalidValue, cudaMemcpy3D(&out));
    OK(cudaFree(device.ptr));
}

static void arrays() {
    float from[8][16], to[8][16];
    for (int i = 0; i < 128; i++) (&from[0][0])[i] = (float)i;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &channels, 16, 8));
    OK(cudaMemcpy2DToArray(array, 0, 0, from, 64, 64, 8, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DFromArray(to, 64, array, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
    CHECK(memcmp(from, to, sizeof to) == 0);
    memset(to, 0, sizeof to);
    // From the third element of the second row on, over the ends of rows.
    OK(cudaMemcpyFromArray(to, array, 8, 1, 200, cudaMemcpyDeviceToHost));
    CHECK(to[0][0] == 18 && to[3][1] == 67 && to[3][2] == 0);
    cudaMemcpy3DParms part = {};
    part.srcArray = array;
    part.srcPos = make_cudaPos(4, 2, 0);
    part.dstPtr = make_cudaPitchedPtr(to, 64, 16, 8);
    part.extent = make_cudaExtent(3, 2, 1);
    part.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&part));
    CHECK(to[0][0] == 36 && to[1][2] == 54);
    GIVES(cudaErrorInvalidValue, cudaMemcpy2DToArray(array, 0, 0, from, 64, 64, 8, cudaMemcpyDeviceToHost));
    cudaExtent extent;
    unsigned flags = 1;
    channels.x = 0;
    OK(cudaArrayGetInfo(&channels, &extent, &flags, array));
    CHECK(extent.width == 16 && extent.height == 8 && flags == 0);
    CHECK(channels.x == 32 && channels.y == 0 && channels.f == cudaChannelFormatKindFloat);
    OK(cudaFreeArray(array));
    channels.x = 7;
    GIVES(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &channels, 16, 8));
}

int main() {
    boxes();
    arrays();
    return wrong != 0;
}
