"""Inline text that no assembler takes."""

import numpy as np
import triton
import triton.language as tl

from device_array import DeviceArray


@triton.jit
def kernel(out):
    i = tl.arange(0, 32)
    tl.store(out + i, tl.inline_asm_elementwise("mov.b32 $0, $1; } }", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1))


kernel[(1,)](DeviceArray(np.zeros(32, np.int32)))
