//! Memory and events that several processes share (CUDA Runtime API, "Device Management", `cudaIpc…`).

use std::ffi::{c_uint, c_void};

use bugaroo_cuda_abi::{CUdeviceptr, CUevent, CUipcHandle};

use crate::api::api;
use crate::driver::driver;

driver! {
    cuIpcGetMemHandle(place: *mut CUipcHandle, address: CUdeviceptr);
    cuIpcOpenMemHandle_v2(place: *mut CUdeviceptr, handle: CUipcHandle, flags: c_uint);
    cuIpcCloseMemHandle(address: CUdeviceptr);
    cuIpcGetEventHandle(place: *mut CUipcHandle, event: CUevent);
    cuIpcOpenEventHandle(place: *mut CUevent, handle: CUipcHandle);
}

api! {
    with_device cudaIpcGetMemHandle(place: *mut CUipcHandle, memory: *mut c_void) {
        cuIpcGetMemHandle(place, memory as CUdeviceptr)
    }
    with_device cudaIpcOpenMemHandle(place: *mut *mut c_void, handle: CUipcHandle, flags: c_uint) {
        // An address of the device is a pointer of the program's.
        cuIpcOpenMemHandle_v2(place.cast(), handle, flags)
    }
    with_device cudaIpcCloseMemHandle(memory: *mut c_void) { cuIpcCloseMemHandle(memory as CUdeviceptr) }
    with_device cudaIpcGetEventHandle(place: *mut CUipcHandle, event: CUevent) { cuIpcGetEventHandle(place, event) }
    with_device cudaIpcOpenEventHandle(place: *mut CUevent, handle: CUipcHandle) {
        cuIpcOpenEventHandle(place, handle)
    }
}
