"""Device memory for Triton without torch: numpy arrays copied through the CUDA driver API.

Triton takes any object with a `dtype` whose text is a type of numpy's and a `data_ptr()`. This works the same on a real GPU.
"""

import ctypes

import numpy as np
import triton

_cuda = ctypes.CDLL("libcuda.so.1")


def _call(name, *arguments):
    status = getattr(_cuda, name)(*arguments)
    if status != 0:
        raise RuntimeError(f"{name} answers {status}")


class DeviceArray:
    """A copy of a numpy array in device memory, for as long as the program runs."""

    def __init__(self, values, dtype=None):
        triton.runtime.driver.active.get_current_device()  # makes the device's context current
        self._host = np.ascontiguousarray(values)
        self.dtype = dtype or self._host.dtype.name
        place = ctypes.c_uint64()
        _call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(max(self._host.nbytes, 1)))
        self._address = place.value
        _call("cuMemcpyHtoD_v2", place, self._host.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self._host.nbytes))

    def data_ptr(self):
        return self._address

    def numpy(self):
        """What it holds, when all work before has ended."""
        values = np.empty_like(self._host)
        size = ctypes.c_size_t(values.nbytes)
        _call("cuMemcpyDtoH_v2", values.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(self._address), size)
        return values
