//! What the driver tells a program unasked (CUDA Runtime API, "Error Log Management Functions", "Device Management").

use std::ffi::{c_char, c_int, c_uint, c_void};

use bugaroo_cuda_abi::CUdevice;

use crate::api::api;
use crate::device::handle;
use crate::driver::driver;
use crate::types::Handle;

driver! {
    cuLogsRegisterCallback(function: *const c_void, data: *mut c_void, place: *mut Handle);
    cuLogsUnregisterCallback(listener: Handle);
    cuLogsCurrent(place: *mut c_uint, flags: c_uint);
    cuLogsDumpToFile(iterator: *mut c_uint, path: *const c_char, flags: c_uint);
    cuLogsDumpToMemory(iterator: *mut c_uint, buffer: *mut c_char, size: *mut usize, flags: c_uint);
    cuDeviceRegisterAsyncNotification(device: CUdevice, function: *const c_void, data: *mut c_void, place: *mut Handle);
    cuDeviceUnregisterAsyncNotification(device: CUdevice, listener: Handle);
}

api! {
    with_device cudaLogsRegisterCallback(function: *const c_void, data: *mut c_void, place: *mut Handle) {
        cuLogsRegisterCallback(function, data, place)
    }
    with_device cudaLogsUnregisterCallback(listener: Handle) { cuLogsUnregisterCallback(listener) }
    with_device cudaLogsCurrent(place: *mut c_uint, flags: c_uint) { cuLogsCurrent(place, flags) }
    with_device cudaLogsDumpToFile(iterator: *mut c_uint, path: *const c_char, flags: c_uint) {
        cuLogsDumpToFile(iterator, path, flags)
    }
    with_device cudaLogsDumpToMemory(
        iterator: *mut c_uint, buffer: *mut c_char, size: *mut usize, flags: c_uint,
    ) {
        cuLogsDumpToMemory(iterator, buffer, size, flags)
    }
    with_device cudaDeviceRegisterAsyncNotification(
        ordinal: c_int, function: *const c_void, data: *mut c_void, place: *mut Handle,
    ) {
        cuDeviceRegisterAsyncNotification(handle(ordinal)?, function, data, place)
    }
    with_device cudaDeviceUnregisterAsyncNotification(ordinal: c_int, listener: Handle) {
        cuDeviceUnregisterAsyncNotification(handle(ordinal)?, listener)
    }
}
