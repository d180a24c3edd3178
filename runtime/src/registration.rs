//! What nvcc's code registers when a program starts: fat binaries, and by the addresses of their host
//! counterparts the kernels and variables in them.
//!
//! Registration only takes notes, so that it cannot fail and that programs that never touch the device run
//! without one. A fat binary is handed to the driver, as a library, at the first use of one of its kernels or
//! variables ("lazy loading", CUDA Runtime API); the driver sees to there being a module of it in each
//! context. What cannot be loaded is an error of every such use.
//!
//! Under `-rdc=true` the program registers one fat binary for all its object files, whose wrapper
//! lists theirs: the driver links them.
//!
//! The prototypes are those of `crt/host_runtime.h`.

mod binary;
mod table;

use std::ffi::{c_char, c_int, c_void};

use bugaroo_cuda_abi::{CUdeviceptr, CUfunction, CUkernel};

use crate::driver::driver;
use crate::entry::anytime;
use crate::error::{RuntimeError, RuntimeResult};

pub use self::binary::RegisteredKernel;

driver! {
    cuKernelGetFunction(place: *mut CUfunction, kernel: CUkernel);
    cuLibraryGetGlobal(place: *mut CUdeviceptr, bytes: *mut usize, library: *mut c_void, name: *const c_char);
}

/// The kernel that the program means by an address: of its host function, or a kernel's handle.
///
/// # Errors
/// `cudaErrorInvalidDeviceFunction` when it is neither; what the driver says when the kernel cannot be loaded.
pub fn kernel(host: *const c_void) -> RuntimeResult<CUkernel> {
    match table::kernel(host) {
        Some(kernel) => kernel.handle(),
        // It may be a handle of the driver's; that is checked where it is used.
        None if host.is_null() => Err(RuntimeError::INVALID_DEVICE_FUNCTION),
        None => Ok(host.cast_mut()),
    }
}

/// The same in the current context.
///
/// # Errors
/// As [`kernel`].
pub fn function(host: *const c_void) -> RuntimeResult<CUfunction> {
    here(kernel(host)?)
}

/// A kernel in the current context.
fn here(kernel: CUkernel) -> RuntimeResult<CUfunction> {
    let mut function = std::ptr::null_mut();
    // SAFETY: a place for the answer. Handles that are none are refused by the driver.
    match unsafe { cuKernelGetFunction(&raw mut function, kernel) } {
        // CUDA_ERROR_INVALID_HANDLE
        Err(RuntimeError(400)) => Err(RuntimeError::INVALID_DEVICE_FUNCTION),
        outcome => outcome.map(|()| function),
    }
}

/// The host function of a kernel that has been used in the current context.
pub fn host_of(function: CUfunction) -> Option<*const c_void> {
    let is_it = |kernel: &RegisteredKernel| {
        kernel.known().is_some_and(|kernel| here(kernel).is_ok_and(|found| found == function))
    };
    table::hosts().into_iter().find(|(_, kernel)| is_it(kernel)).map(|(host, _)| host as *const c_void)
}

/// Address and size in bytes of the variable that the program means by its host counterpart.
///
/// # Errors
/// `cudaErrorInvalidSymbol` when there is none; what the driver says when it cannot be loaded.
pub fn variable(symbol: *const c_void) -> RuntimeResult<(CUdeviceptr, usize)> {
    let variable = table::variable(symbol).ok_or(RuntimeError::INVALID_SYMBOL)?;
    let library = variable.binary.library()?;
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: places for the answers, a library that was loaded, a C string.
    match unsafe { cuLibraryGetGlobal(&raw mut address, &raw mut bytes, library, variable.name.as_ptr()) } {
        Err(RuntimeError::SYMBOL_NOT_FOUND) => Err(RuntimeError::INVALID_SYMBOL),
        outcome => outcome.map(|()| (address, bytes)),
    }
}

/// Forgets all that was loaded, as `cudaDeviceReset` asks; it is loaded again at its next use.
pub fn forget_loaded() {
    table::binaries().iter().for_each(|binary| binary.unload());
}

/// Registers a fat binary: notes where it is.
///
/// # Safety
/// `wrapper` is a fat binary's wrapper that stays until it is unregistered.
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const c_void) -> *mut *mut c_void {
    let mut handle = std::ptr::null_mut();
    anytime("__cudaRegisterFatBinary", || {
        handle = table::add_binary(wrapper).cast();
        Ok(())
    });
    handle
}

/// Ends the registration of a fat binary's contents.
pub extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

/// Forgets a fat binary, which may be gone hereafter.
pub extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    anytime("__cudaUnregisterFatBinary", || {
        table::remove_binary(handle.cast());
        Ok(())
    });
}

/// Registers a kernel by the address of its host function.
///
/// # Safety
/// `name` is a C string.
pub unsafe extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    host: *const c_void,
    _device: *mut c_char,
    name: *const c_char,
    _thread_limit: c_int,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_extent: *mut c_void,
    _grid_extent: *mut c_void,
    _warp_size: *mut c_int,
) {
    anytime("__cudaRegisterFunction", || {
        // SAFETY: the caller's promise.
        unsafe { table::add_kernel(handle.cast(), host, name) };
        Ok(())
    });
}

/// Registers a `__device__` or `__constant__` variable by the address of its shadow on the host.
///
/// # Safety
/// `name` is a C string.
pub unsafe extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    shadow: *const c_void,
    _address: *mut c_char,
    name: *const c_char,
    _external: c_int,
    _bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    anytime("__cudaRegisterVar", || {
        // SAFETY: the caller's promise.
        unsafe { table::add_variable(handle.cast(), shadow, name) };
        Ok(())
    });
}

/// Registers a `__managed__` variable: `place` has to hold its address by the time that the host uses it.
///
/// # Safety
/// `name` is a C string; `place` is a place for a pointer until the fat binary is unregistered.
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: *mut *mut c_void,
    place: *mut *mut c_void,
    _address: *mut c_char,
    name: *const c_char,
    _external: c_int,
    _bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    anytime("__cudaRegisterManagedVar", || {
        // SAFETY: the caller's promise.
        unsafe { table::add_managed(handle.cast(), place, name) };
        Ok(())
    });
}

/// Registers a variable of the host that kernels use by its name (systems whose GPU reads all of the
/// host's memory). Kernels that do so name an undefined variable, which shows when they are loaded.
pub extern "C" fn __cudaRegisterHostVar(
    _handle: *mut *mut c_void,
    _name: *const c_char,
    _address: *mut c_char,
    _bytes: usize,
) {
}

/// Registers a table of functions that host and device share (the same systems).
pub extern "C" fn __cudaRegisterUnifiedTable(_handle: *mut *mut c_void, _table: *mut c_void) {}

/// Sees to it that a fat binary's managed variables are there: called before the host first uses one.
/// The answer is kept by the program: not 0, it does not ask again.
pub extern "C" fn __cudaInitModule(handle: *mut *mut c_void) -> c_char {
    let outcome = crate::entry::with_device("__cudaInitModule", || match table::binary(handle.cast()) {
        Some(binary) => binary.library().map(|_| ()),
        None => Err(RuntimeError::INVALID_VALUE),
    });
    c_char::from(outcome == 0)
}

/// A kernel's handle for the launches of its stub: this library's own, which outlives
/// `cudaDeviceReset`, as the stub asks once only. Nothing is loaded yet.
///
/// # Safety
/// `place` is a place for a handle.
pub unsafe extern "C" fn __cudaGetKernel(place: *mut *const RegisteredKernel, host: *const c_void) -> c_int {
    anytime("__cudaGetKernel", || {
        let kernel = table::kernel(host).ok_or(RuntimeError::INVALID_DEVICE_FUNCTION)?;
        // SAFETY: the caller's promise.
        unsafe { *place = kernel };
        Ok(())
    })
}
