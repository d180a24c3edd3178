"""What NVRTC is asked for as machine code: two translation units linked by the driver, and a graph of launches."""

import ctypes
import sys

from cuda.bindings import driver as cu
from cuda.core import (
    Device, LaunchConfig, LegacyPinnedMemoryResource, Linker, LinkerOptions, Program, ProgramOptions, launch,
)

BLOCKS, THREADS = 8, 64

MAIN = r"""
__device__ int weight(int);
extern "C" __global__ void total(int *parts, unsigned *done, int *result)
{
    __shared__ bool last;
    int part = __syncthreads_count(threadIdx.x % 2) * weight(blockIdx.x);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
        if (last) {
            __threadfence();
            for (unsigned i = 0; i < gridDim.x; i++)
                *result += ((volatile int *)parts)[i];
        }
    }
}
"""
WEIGHT = "__device__ int weight(int block) { return block + 1; }"

device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(arch="sm_90", relocatable_device_code=True)
parts = [Program(source, "c++", options).compile("cubin") for source in (MAIN, WEIGHT)]
kernel = Linker(*parts, options=LinkerOptions(arch="sm_90")).link("cubin").get_kernel("total")

memory = LegacyPinnedMemoryResource().allocate(4 * (BLOCKS + 2))
words = (ctypes.c_int * (BLOCKS + 2)).from_address(int(memory.handle))
words[:] = [0] * len(words)
addresses = [int(memory.handle) + 4 * at for at in (0, BLOCKS, BLOCKS + 1)]

builder = device.create_graph_builder().begin_building()
for _ in range(2):
    launch(builder, LaunchConfig(grid=BLOCKS, block=THREADS), kernel, *addresses)
graph = builder.end_building().complete()
graph.launch(stream)
stream.sync()
graph.close()

expected = 2 * sum((block + 1) * THREADS // 2 for block in range(BLOCKS))
if words[BLOCKS + 1] != expected:
    print(f"nvrtc_machine_code: wrong result: {words[BLOCKS + 1]} instead of {expected}")
    sys.exit(1)

# What is cleaned up late goes without a current context, too.
error, address = cu.cuMemAlloc(4096)
error, _ = cu.cuCtxPopCurrent()
(error,) = cu.cuMemFree(address)
if error != cu.CUresult.CUDA_SUCCESS:
    print(f"nvrtc_machine_code: {error}")
    sys.exit(1)
