//! Handles and what is set on them, and the library's version.
//!
//! A handle is a number, never a pointer, so that one that was destroyed is an error.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bugaroo_cuda_abi::{CUstream, FunctionAddress, Functions};

use super::guard::{Handle, anytime};
use super::status::{Outcome, Status};
use crate::driver;

/// The version that this library says it is of: 13.0.
const VERSION: [c_int; 3] = [13, 0, 0];

/// What is set on a handle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Its stream, by number.
    pub stream: usize,
    /// Pointers to scalars are the device's (`CUBLAS_POINTER_MODE_DEVICE`).
    pub on_device: bool,
    /// `cublasMath_t`, which changes nothing here.
    math: c_int,
    /// `cublasAtomicsMode_t`, which changes nothing here.
    atomics: c_int,
    /// `cublasSetSmCountTarget`, which changes nothing here.
    multiprocessors: c_int,
}

#[derive(Debug)]
struct Handles {
    live: BTreeMap<usize, Settings>,
    last: usize,
}

static HANDLES: Mutex<Handles> = Mutex::new(Handles { live: BTreeMap::new(), last: 0 });

fn handles() -> MutexGuard<'static, Handles> {
    HANDLES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is set on a handle.
///
/// # Errors
/// `CUBLAS_STATUS_NOT_INITIALIZED` if it is none.
pub fn settings(handle: Handle) -> Outcome<Settings> {
    handles().live.get(&(handle as usize)).copied().ok_or(Status::NOT_INITIALIZED)
}

fn with(name: &str, handle: Handle, body: impl FnOnce(&mut Settings) -> Outcome) -> c_int {
    anytime(name, || body(handles().live.get_mut(&(handle as usize)).ok_or(Status::NOT_INITIALIZED)?))
}

/// Writes a result where the program wants it.
///
/// # Safety
/// `place` is null or points to a place for a value.
unsafe fn put<T>(place: *mut T, value: T) -> Outcome {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Makes a handle.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn create(place: *mut Handle) -> c_int {
    anytime("cublasCreate", || {
        if place.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        driver::ready()?;
        driver::door()?;
        let mut handles = handles();
        // Apart as pointers are, should a program look.
        handles.last += 64;
        let handle = handles.last;
        handles.live.insert(handle, Settings::default());
        // SAFETY: the caller's promise.
        unsafe { put(place, handle as Handle) }
    })
}

/// Destroys a handle. NVIDIA's waits for the device, as it frees memory.
pub extern "C" fn destroy(handle: Handle) -> c_int {
    anytime("cublasDestroy", || {
        handles().live.remove(&(handle as usize)).ok_or(Status::NOT_INITIALIZED)?;
        driver::ready()?;
        // SAFETY: no arguments. A fault is told by the program's own next wait.
        let _ = unsafe { driver::cuCtxSynchronize() };
        Ok(())
    })
}

extern "C" fn set_stream(handle: Handle, stream: CUstream) -> c_int {
    with("cublasSetStream", handle, |settings| {
        settings.stream = stream as usize;
        Ok(())
    })
}

unsafe extern "C" fn get_stream(handle: Handle, place: *mut CUstream) -> c_int {
    // SAFETY: the caller's promise.
    with("cublasGetStream", handle, |settings| unsafe { put(place, settings.stream as CUstream) })
}

extern "C" fn set_pointer_mode(handle: Handle, mode: c_int) -> c_int {
    with("cublasSetPointerMode", handle, |settings| {
        settings.on_device = super::number::second(mode)?;
        Ok(())
    })
}

unsafe extern "C" fn get_pointer_mode(handle: Handle, place: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    with("cublasGetPointerMode", handle, |settings| unsafe { put(place, c_int::from(settings.on_device)) })
}

extern "C" fn set_math_mode(handle: Handle, mode: c_int) -> c_int {
    with("cublasSetMathMode", handle, |settings| {
        settings.math = mode;
        Ok(())
    })
}

unsafe extern "C" fn get_math_mode(handle: Handle, place: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    with("cublasGetMathMode", handle, |settings| unsafe { put(place, settings.math) })
}

extern "C" fn set_atomics_mode(handle: Handle, mode: c_int) -> c_int {
    with("cublasSetAtomicsMode", handle, |settings| {
        settings.atomics = c_int::from(super::number::second(mode)?);
        Ok(())
    })
}

unsafe extern "C" fn get_atomics_mode(handle: Handle, place: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    with("cublasGetAtomicsMode", handle, |settings| unsafe { put(place, settings.atomics) })
}

extern "C" fn set_multiprocessors(handle: Handle, count: c_int) -> c_int {
    with("cublasSetSmCountTarget", handle, |settings| {
        if count < 0 {
            return Err(Status::INVALID_VALUE);
        }
        settings.multiprocessors = count;
        Ok(())
    })
}

unsafe extern "C" fn get_multiprocessors(handle: Handle, place: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    with("cublasGetSmCountTarget", handle, |settings| unsafe { put(place, settings.multiprocessors) })
}

/// Takes note of a workspace: none is used. A pointer that is not aligned to 256 bytes is refused, as documented.
extern "C" fn set_workspace(handle: Handle, workspace: *mut c_void, _bytes: usize) -> c_int {
    with("cublasSetWorkspace", handle, |_| {
        if (workspace as usize).is_multiple_of(256) { Ok(()) } else { Err(Status::INVALID_VALUE) }
    })
}

unsafe extern "C" fn version(_handle: Handle, place: *mut c_int) -> c_int {
    let [major, minor, patch] = VERSION;
    // SAFETY: the caller's promise.
    anytime("cublasGetVersion", || unsafe { put(place, major * 10000 + minor * 100 + patch) })
}

/// `libraryPropertyType`: 0 the major number, 1 the minor one, 2 the patch.
///
/// # Safety
/// `place` is null or points to a place for a number.
pub unsafe extern "C" fn property(kind: c_int, place: *mut c_int) -> c_int {
    anytime("cublasGetProperty", || {
        let kind = usize::try_from(kind).map_err(|_| Status::INVALID_VALUE)?;
        // SAFETY: the caller's promise.
        unsafe { put(place, *VERSION.get(kind).ok_or(Status::INVALID_VALUE)?) }
    })
}

extern "C" fn cudart_version() -> usize {
    13000
}

/// Nothing is logged: what was asked for is taken note of.
extern "C" fn logger(_on: c_int, _stdout: c_int, _stderr: c_int, _file: *const c_void) -> c_int {
    0
}

extern "C" fn set_logger(_callback: *const c_void) -> c_int {
    0
}

unsafe extern "C" fn get_logger(place: *mut *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    anytime("cublasGetLoggerCallback", || unsafe { put(place, null_mut()) })
}

/// The functions of this file, by name.
pub static FUNCTIONS: Functions = &[
    ("cublasCreate_v2", FunctionAddress(create as *const c_void)),
    ("cublasDestroy_v2", FunctionAddress(destroy as *const c_void)),
    ("cublasGetVersion_v2", FunctionAddress(version as *const c_void)),
    ("cublasGetProperty", FunctionAddress(property as *const c_void)),
    ("cublasGetCudartVersion", FunctionAddress(cudart_version as *const c_void)),
    ("cublasSetWorkspace_v2", FunctionAddress(set_workspace as *const c_void)),
    ("cublasSetStream_v2", FunctionAddress(set_stream as *const c_void)),
    ("cublasGetStream_v2", FunctionAddress(get_stream as *const c_void)),
    ("cublasSetPointerMode_v2", FunctionAddress(set_pointer_mode as *const c_void)),
    ("cublasGetPointerMode_v2", FunctionAddress(get_pointer_mode as *const c_void)),
    ("cublasSetMathMode", FunctionAddress(set_math_mode as *const c_void)),
    ("cublasGetMathMode", FunctionAddress(get_math_mode as *const c_void)),
    ("cublasSetAtomicsMode", FunctionAddress(set_atomics_mode as *const c_void)),
    ("cublasGetAtomicsMode", FunctionAddress(get_atomics_mode as *const c_void)),
    ("cublasSetSmCountTarget", FunctionAddress(set_multiprocessors as *const c_void)),
    ("cublasGetSmCountTarget", FunctionAddress(get_multiprocessors as *const c_void)),
    ("cublasLoggerConfigure", FunctionAddress(logger as *const c_void)),
    ("cublasSetLoggerCallback", FunctionAddress(set_logger as *const c_void)),
    ("cublasGetLoggerCallback", FunctionAddress(get_logger as *const c_void)),
];
