//! Kernels (CUDA Driver API, "Execution Control"): what is known of them, and what can be set.

use std::ffi::{c_char, c_int, c_uint};

use bugaroo_cuda_abi::{CUfunction, CUmodule};

use crate::api::entry::{with_context, with_gpu};
use bugaroo_device::error::Status;
use bugaroo_device::function::{attribute, parameter, set_attribute};
use bugaroo_device::objects::context::check_cache_config;
use bugaroo_device::places::{not_null, write, write_if_wanted};

/// An attribute of a kernel.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuFuncGetAttribute(
    place: *mut c_int,
    number: c_uint,
    function: CUfunction,
) -> Status {
    with_context("cuFuncGetAttribute", |gpu, _| {
        not_null(place)?;
        let value = attribute(gpu, function, number)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, value) }
    })
}

/// Sets an attribute of a kernel: the dynamic shared memory that its launches may ask for, or the
/// preferred share of shared memory.
pub extern "C" fn cuFuncSetAttribute(function: CUfunction, number: c_uint, value: c_int) -> Status {
    with_context("cuFuncSetAttribute", |gpu, _| set_attribute(gpu, function, number, value))
}

/// Sets a kernel's preference between L1 cache and shared memory; it changes nothing.
pub extern "C" fn cuFuncSetCacheConfig(function: CUfunction, config: c_uint) -> Status {
    with_context("cuFuncSetCacheConfig", |gpu, _| {
        gpu.code.functions.get(function)?;
        check_cache_config(config)
    })
}

/// Asks for a width of shared memory's banks; it changes nothing.
pub extern "C" fn cuFuncSetSharedMemConfig(function: CUfunction, config: c_uint) -> Status {
    with_context("cuFuncSetSharedMemConfig", |gpu, _| {
        gpu.code.functions.get(function)?;
        if config <= 2 { Ok(()) } else { Err(Status::InvalidValue) }
    })
}

/// The module of a kernel.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuFuncGetModule(place: *mut CUmodule, function: CUfunction) -> Status {
    with_context("cuFuncGetModule", |gpu, _| {
        // SAFETY: the caller's promise.
        unsafe { write(place, gpu.code.functions.get(function)?.module) }
    })
}

/// The name of a kernel, valid until its module is unloaded.
///
/// # Safety
/// `place` is null or points to a place for a pointer.
pub unsafe extern "C" fn cuFuncGetName(place: *mut *const c_char, function: CUfunction) -> Status {
    with_gpu("cuFuncGetName", |gpu| {
        // SAFETY: the caller's promise. The text stays where it is while the function lives.
        unsafe { write(place, gpu.code.functions.get(function)?.name.as_ptr()) }
    })
}

/// Offset and size in bytes of a kernel's parameter. `CUDA_ERROR_INVALID_VALUE` past the last one.
///
/// # Safety
/// `offset` is null, which is refused, or points to a place for a number; `size` likewise, but null
/// means not wanted.
pub unsafe extern "C" fn cuFuncGetParamInfo(
    function: CUfunction,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> Status {
    with_gpu("cuFuncGetParamInfo", |gpu| {
        not_null(offset)?;
        let (at, bytes) = parameter(gpu, function, index)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(size, bytes);
            write(offset, at)
        }
    })
}

/// Whether a kernel is loaded: it is, as modules are loaded eagerly.
///
/// # Safety
/// `place` is null or points to a place for the state.
pub unsafe extern "C" fn cuFuncIsLoaded(place: *mut c_uint, function: CUfunction) -> Status {
    with_context("cuFuncIsLoaded", |gpu, _| {
        gpu.code.functions.get(function)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, 1) }
    })
}

/// Loads a kernel, which it is already.
pub extern "C" fn cuFuncLoad(function: CUfunction) -> Status {
    with_context("cuFuncLoad", |gpu, _| gpu.code.functions.get(function).map(|_| ()))
}
