// A spin lock that lanes of one warp take from each other, and blocks from each other: needs every lane to get its turn.
//! buffer mutex u32 1
//! buffer out u32 1
//! launch spin 3 64 : mutex out
//! expect out = 192
//! expect mutex = 0
//! seeds 5
extern "C" __global__ void spin(int *mutex, int *out)
{
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    __threadfence();
    *(volatile int *)out = *(volatile int *)out + 1;
    __threadfence();
    atomicExch(mutex, 0);
}
