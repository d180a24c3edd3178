//! Libraries of kernels that a program loads itself (CUDA Runtime API, "Library Management"). Options
//! bear the driver's numbers.

use std::ffi::{c_char, c_int, c_uint, c_void};

use bugaroo_cuda_abi::CUdevice;

use crate::api::api;
use crate::device::handle;
use crate::driver::driver;
use crate::types::Handle;

driver! {
    cuLibraryLoadData(place: *mut Handle, code: *const c_void, jit: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint, options: *mut c_int, values: *mut *mut c_void, count: c_uint);
    cuLibraryLoadFromFile(place: *mut Handle, file: *const c_char, jit: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint, options: *mut c_int, values: *mut *mut c_void, count: c_uint);
    cuLibraryUnload(library: Handle);
    cuLibraryGetKernel(place: *mut Handle, library: Handle, name: *const c_char);
    cuLibraryGetGlobal(place: *mut *mut c_void, bytes: *mut usize, library: Handle, name: *const c_char);
    cuLibraryGetManaged(place: *mut *mut c_void, bytes: *mut usize, library: Handle, name: *const c_char);
    cuLibraryGetUnifiedFunction(place: *mut *mut c_void, library: Handle, name: *const c_char);
    cuLibraryGetKernelCount(place: *mut c_uint, library: Handle);
    cuLibraryEnumerateKernels(places: *mut Handle, count: c_uint, library: Handle);
    cuKernelSetAttribute(attribute: c_int, value: c_int, kernel: Handle, device: CUdevice);
}

api! {
    with_device cudaLibraryLoadData(
        place: *mut Handle, code: *const c_void, jit: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint,
        options: *mut c_int, values: *mut *mut c_void, count: c_uint,
    ) {
        cuLibraryLoadData(place, code, jit, jit_values, jit_count, options, values, count)
    }
    with_device cudaLibraryLoadFromFile(
        place: *mut Handle, file: *const c_char, jit: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint,
        options: *mut c_int, values: *mut *mut c_void, count: c_uint,
    ) {
        cuLibraryLoadFromFile(place, file, jit, jit_values, jit_count, options, values, count)
    }
    with_device cudaLibraryUnload(library: Handle) { cuLibraryUnload(library) }
    with_device cudaLibraryGetKernel(place: *mut Handle, library: Handle, name: *const c_char) {
        cuLibraryGetKernel(place, library, name)
    }
    with_device cudaLibraryGetGlobal(place: *mut *mut c_void, bytes: *mut usize, library: Handle, name: *const c_char) {
        cuLibraryGetGlobal(place, bytes, library, name)
    }
    with_device cudaLibraryGetManaged(place: *mut *mut c_void, bytes: *mut usize, library: Handle, name: *const c_char) {
        cuLibraryGetManaged(place, bytes, library, name)
    }
    with_device cudaLibraryGetUnifiedFunction(place: *mut *mut c_void, library: Handle, name: *const c_char) {
        cuLibraryGetUnifiedFunction(place, library, name)
    }
    with_device cudaLibraryGetKernelCount(place: *mut c_uint, library: Handle) {
        cuLibraryGetKernelCount(place, library)
    }
    with_device cudaLibraryEnumerateKernels(places: *mut Handle, count: c_uint, library: Handle) {
        cuLibraryEnumerateKernels(places, count, library)
    }
    with_device cudaKernelSetAttributeForDevice(kernel: Handle, attribute: c_int, value: c_int, ordinal: c_int) {
        cuKernelSetAttribute(attribute, value, kernel, handle(ordinal)?)
    }
}
