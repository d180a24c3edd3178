// nvcc program: -arch=sm_75
// Whose memory kernels of two devices reach. The argument says what is tried; exits with 0 when that ends as on two real devices, faults included.
#include <cstdio>
#include <cstring>

#include "check.h"

__device__ int variable = 5;
__managed__ int managed = 10;

__global__ void add(int *place, int what) { atomicAdd(place, what); }
__global__ void add_to_managed(int what) { managed += what; }

// Memory of the second device, with a number in it; the first one is current then.
int *of_the_second(int number) {
    int *place;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&place, sizeof(int)));
    CHECK(cudaMemcpy(place, &number, sizeof number, cudaMemcpyHostToDevice));
    CHECK(cudaSetDevice(0));
    return place;
}

// What comes of a kernel of the current device that adds 1 there.
cudaError_t touched(int *place) {
    add<<<1, 1>>>(place, 1);
    cudaError_t launched = cudaGetLastError();
    return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

int number_at(int *place) {
    int number = 0;
    CHECK(cudaMemcpy(&number, place, sizeof number, cudaMemcpyDefault));
    return number;
}

void expect(const char *what, cudaError_t got, cudaError_t want) {
    if (got != want) {
        printf("%s: %s instead of %s\n", what, cudaGetErrorName(got), cudaGetErrorName(want));
        exit(1);
    }
}

void not_enabled() { expect("a kernel", touched(of_the_second(1)), cudaErrorIllegalAddress); }

void enabled() {
    int *place = of_the_second(1);
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    expect("a kernel", touched(place), cudaSuccess);
    // What is allocated later, too.
    int *later = of_the_second(4);
    expect("a kernel, later", touched(later), cudaSuccess);
    EXPECT("numbers", number_at(place) + number_at(later), 7);
    expect("twice", cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    expect("the error sticks nowhere", cudaGetLastError(), cudaErrorPeerAccessAlreadyEnabled);
    expect("a kernel, after that", touched(place), cudaSuccess);
    // One way is not the other.
    int *first;
    CHECK(cudaMalloc(&first, sizeof(int)));
    CHECK(cudaSetDevice(1));
    expect("the other way", touched(first), cudaErrorIllegalAddress);
}

void misused() {
    int reaches = 7;
    expect("itself", cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    expect("no such device", cudaDeviceEnablePeerAccess(2, 0), cudaErrorInvalidDevice);
    expect("flags", cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
    expect("disabled before", cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    CHECK(cudaDeviceCanAccessPeer(&reaches, 0, 0));
    EXPECT("itself", reaches, 0);
    cudaGetLastError();
}

void disabled() {
    int *place = of_the_second(1);
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    expect("a kernel", touched(place), cudaSuccess);
    CHECK(cudaDeviceDisablePeerAccess(1));
    expect("a kernel, without", touched(place), cudaErrorIllegalAddress);
}

void reset() {
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaDeviceReset());
    // What the device could reach went with it.
    expect("a kernel", touched(of_the_second(1)), cudaErrorIllegalAddress);
}

void peer_reset() {
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceReset());
    int *place = of_the_second(1);
    expect("enabled anew", cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
    expect("a kernel", touched(place), cudaSuccess);
}

void copies() {
    int *theirs = of_the_second(6), *mine;
    CHECK(cudaMalloc(&mine, sizeof(int)));
    CHECK(cudaMemcpyPeer(mine, 0, theirs, 1, sizeof(int)));
    EXPECT("copied between peers", number_at(mine), 6);
    expect("a kernel", touched(mine), cudaSuccess);
    CHECK(cudaMemcpy(theirs, mine, sizeof(int), cudaMemcpyDeviceToDevice));
    EXPECT("copied back", number_at(theirs), 7);
    CHECK(cudaMemcpy(mine, theirs, sizeof(int), cudaMemcpyDefault));
}

void shared() {
    int *one, *other;
    CHECK(cudaMallocManaged(&one, sizeof(int)));
    CHECK(cudaMallocHost(&other, sizeof(int)));
    *one = *other = 0;
    for (int device = 0; device < 2; device++) {
        CHECK(cudaSetDevice(device));
        expect("managed", touched(one), cudaSuccess);
        expect("page-locked", touched(other), cudaSuccess);
    }
    EXPECT("managed and page-locked", *one + *other, 4);
}

void variables() {
    int *place;
    CHECK(cudaSetDevice(1));
    CHECK(cudaGetSymbolAddress((void **)&place, variable));
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    expect("a variable", touched(place), cudaSuccess);
    EXPECT("the second's", number_at(place), 6);
    int own;
    CHECK(cudaMemcpyFromSymbol(&own, variable, sizeof own));
    EXPECT("the first's", own, 5);
}

void one_managed_variable() {
    for (int device = 0; device < 2; device++) {
        CHECK(cudaSetDevice(device));
        add_to_managed<<<1, 1>>>(1 + device);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        managed += 10;
    }
    EXPECT("of both, and the host", managed, 33);
}

// Memory of a pool of the second device.
int *pooled(cudaMemPool_t *pool) {
    int *place;
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceGetDefaultMemPool(pool, 1));
    CHECK(cudaMallocAsync(&place, sizeof(int), 0));
    CHECK(cudaMemsetAsync(place, 0, sizeof(int), 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    return place;
}

void pool_closed() {
    cudaMemPool_t pool;
    int *place = pooled(&pool);
    // Opens no pools.
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    expect("a pool's", touched(place), cudaErrorIllegalAddress);
}

void pool_opened() {
    cudaMemPool_t pool, first;
    int *place = pooled(&pool);
    CHECK(cudaDeviceGetDefaultMemPool(&first, 0));
    EXPECT("a pool of its own", pool != first, true);
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
    cudaMemAccessFlags flags;
    CHECK(cudaMemPoolGetAccess(&flags, pool, &access.location));
    EXPECT("before", int(flags), int(cudaMemAccessFlagsProtNone));
    CHECK(cudaMemPoolSetAccess(pool, &access, 1));
    CHECK(cudaMemPoolGetAccess(&flags, pool, &access.location));
    EXPECT("after", int(flags), int(cudaMemAccessFlagsProtReadWrite));
    expect("a pool's", touched(place), cudaSuccess);
    EXPECT("a pool's", number_at(place), 1);
    access.flags = cudaMemAccessFlagsProtNone;
    CHECK(cudaMemPoolSetAccess(pool, &access, 1));
    expect("a pool's, closed again", touched(place), cudaErrorIllegalAddress);
}

void prefetched() {
    int *place;
    cudaMemPool_t pool;
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, place = pooled(&pool)));
    EXPECT("whose", attributes.device, 1);
}

int main(int count, char **arguments) {
    struct {
        const char *name;
        void (*tried)();
    } all[] = {{"not-enabled", not_enabled}, {"enabled", enabled},     {"misused", misused},
               {"disabled", disabled},       {"reset", reset},         {"peer-reset", peer_reset},
               {"copies", copies},           {"shared", shared},       {"variables", variables},
               {"managed", one_managed_variable}, {"pool-closed", pool_closed}, {"pool-opened", pool_opened},
               {"whose", prefetched}};
    for (auto &one : all) {
        if (count > 1 && !strcmp(arguments[1], one.name)) {
            one.tried();
            return 0;
        }
    }
    printf("what is to be tried?\n");
    return 3;
}
