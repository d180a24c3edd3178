//! Modules (CUDA Driver API, "Module Management"): PTX text, instrumented as the orders say, decoded
//! and placed in device memory.

use std::ffi::{c_char, c_uint, c_void};
use std::fs;

use bugaroo_cuda_abi::{CUdeviceptr, CUfunction, CUmodule};

use crate::api::entry::{with_context, with_gpu};
use crate::api::synchronising::taking_away;
use bugaroo_device::error::Status;
use bugaroo_device::images::image::Image;
use bugaroo_device::images::jit::JitOptions;
use bugaroo_device::places::{not_null, text, write, write_if_wanted};
use bugaroo_device::state::Gpu;

fn load_data(
    name: &str,
    place: *mut CUmodule,
    image: *const c_void,
    (count, options, values): (c_uint, *const c_uint, *mut *mut c_void),
) -> Status {
    with_context(name, |gpu, context| {
        not_null(place)?;
        // SAFETY: the exported functions' callers vouch for the image and the options.
        let (image, options) = unsafe { (Image::at(image)?, JitOptions::read(count, options, values)?) };
        let module = gpu.load_module(Some(context), &image, &options)?;
        // SAFETY: not null; the exported functions' callers vouch for the rest.
        unsafe { write(place, module) }
    })
}

/// Loads a module from memory.
///
/// `CUDA_ERROR_INVALID_PTX` or `CUDA_ERROR_INVALID_IMAGE` when it is not PTX;
/// `CUDA_ERROR_NO_BINARY_FOR_GPU` when it is a binary without PTX that fits. Kernels with instructions that the
/// simulator lacks are refused when they are launched.
///
/// # Safety
/// `place` is null or points to a place for a handle; `image` is null or a NUL-terminated PTX text, a
/// cubin, a fat binary or the wrapper of one.
pub unsafe extern "C" fn cuModuleLoadData(place: *mut CUmodule, image: *const c_void) -> Status {
    load_data("cuModuleLoadData", place, image, (0, std::ptr::null(), std::ptr::null_mut()))
}

/// Loads a module from memory, with options of the just-in-time compiler: of these, the logs are
/// honoured.
///
/// # Safety
/// As [`cuModuleLoadData`]; `options` and `values` hold `count` items each.
pub unsafe extern "C" fn cuModuleLoadDataEx(
    place: *mut CUmodule,
    image: *const c_void,
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
) -> Status {
    load_data("cuModuleLoadDataEx", place, image, (count, options, values))
}

/// Loads a module from a fat binary in memory; as with the real driver, all other images pass too.
///
/// # Safety
/// As [`cuModuleLoadData`].
pub unsafe extern "C" fn cuModuleLoadFatBinary(place: *mut CUmodule, image: *const c_void) -> Status {
    load_data("cuModuleLoadFatBinary", place, image, (0, std::ptr::null(), std::ptr::null_mut()))
}

/// Loads a module from a file.
///
/// # Safety
/// `place` is null or points to a place for a handle; `path` is null or a C string.
pub unsafe extern "C" fn cuModuleLoad(place: *mut CUmodule, path: *const c_char) -> Status {
    with_context("cuModuleLoad", |gpu, context| {
        not_null(place)?;
        // SAFETY: the caller's promise.
        let path = unsafe { text(path) }?;
        let bytes = fs::read(path).map_err(|_| Status::FileNotFound)?;
        let module = gpu.load_module(Some(context), &Image::of(&bytes), &JitOptions::none())?;
        // SAFETY: the caller's promise.
        unsafe { write(place, module) }
    })
}

/// Unloads a module, once the device's work is done.
pub extern "C" fn cuModuleUnload(module: CUmodule) -> Status {
    let owner = |gpu: &Gpu| gpu.code.modules.get(module).ok()?.context;
    taking_away("cuModuleUnload", owner, |gpu| {
        // A library's module goes with the library.
        gpu.code.modules.get(module)?.context.ok_or(Status::InvalidHandle)?;
        gpu.unload(module)
    })
}

/// A kernel of a module.
///
/// # Safety
/// `place` is null or points to a place for a handle; `name` is null or a C string.
pub unsafe extern "C" fn cuModuleGetFunction(
    place: *mut CUfunction,
    module: CUmodule,
    name: *const c_char,
) -> Status {
    with_context("cuModuleGetFunction", |gpu, _| {
        not_null(place)?;
        // SAFETY: the caller's promise.
        let function = gpu.find_function(module, unsafe { text(name) }?)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, function) }
    })
}

/// How many kernels a module has.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuModuleGetFunctionCount(place: *mut c_uint, module: CUmodule) -> Status {
    with_context("cuModuleGetFunctionCount", |gpu, _| {
        let count = gpu.code.modules.get(module)?.functions.len();
        // SAFETY: the caller's promise.
        unsafe { write(place, c_uint::try_from(count).unwrap_or(c_uint::MAX)) }
    })
}

/// The first `count` kernels of a module.
///
/// # Safety
/// `places` is null or points to places for `count` handles.
pub unsafe extern "C" fn cuModuleEnumerateFunctions(
    places: *mut CUfunction,
    count: c_uint,
    module: CUmodule,
) -> Status {
    with_context("cuModuleEnumerateFunctions", |gpu, _| {
        not_null(places)?;
        for (index, function) in
            gpu.code.modules.get(module)?.functions.iter().take(count as usize).enumerate()
        {
            // SAFETY: the caller's promise.
            unsafe { write(places.add(index), *function) }?;
        }
        Ok(())
    })
}

/// Address and size in bytes of a module's variable.
///
/// # Safety
/// Each place is null (not wanted) or points to a place for its result; `name` is null or a C string.
pub unsafe extern "C" fn cuModuleGetGlobal_v2(
    address: *mut CUdeviceptr,
    bytes: *mut usize,
    module: CUmodule,
    name: *const c_char,
) -> Status {
    with_context("cuModuleGetGlobal_v2", |gpu, _| {
        // SAFETY: the caller's promise.
        let (found, size) = gpu.find_variable(module, unsafe { text(name) }?)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(address, found);
            write_if_wanted(bytes, size as usize);
        }
        Ok(())
    })
}

/// Whether modules are loaded eagerly (1) or lazily (2): eagerly, so that what is not supported is
/// told at the load.
///
/// # Safety
/// `place` is null or points to a place for the answer.
pub unsafe extern "C" fn cuModuleGetLoadingMode(place: *mut c_uint) -> Status {
    // SAFETY: the caller's promise.
    with_gpu("cuModuleGetLoadingMode", |_| unsafe { write(place, 1) })
}
