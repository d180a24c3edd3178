"""A block reduction in numba: shared memory, a barrier, an atomic at the end."""

import sys

import numpy as np
from numba import cuda, int32

THREADS = 128


@cuda.jit
def total(values, result):
    parts = cuda.shared.array(THREADS, int32)
    lane = cuda.threadIdx.x
    at = cuda.grid(1)
    parts[lane] = values[at] if at < values.size else 0
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if lane < step:
            parts[lane] += parts[lane + step]
        cuda.syncthreads()
        step //= 2
    if lane == 0:
        cuda.atomic.add(result, 0, parts[0])


values = (np.arange(3000) % 91).astype(np.int32)
device_values = cuda.to_device(values)
result = cuda.to_device(np.zeros(1, dtype=np.int32))
total[(values.size + THREADS - 1) // THREADS, THREADS](device_values, result)
got = int(result.copy_to_host()[0])
if got != int(values.sum()):
    print(f"wrong result: {got} instead of {int(values.sum())}", file=sys.stderr)
    sys.exit(1)
