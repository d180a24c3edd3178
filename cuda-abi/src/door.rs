//! The door: what Bugaroo's driver does for Bugaroo's own libraries, beside the API.
//!
//! The driver exports one function more than CUDA's, `bugarooDoor`, which gives the functions behind it. It is asked for by name,
//! so that it is absent in another driver; a version guards its form.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::OnceLock;

use crate::calls::CallFailure;
use crate::handles::{CUdeviceptr, CUstream};

/// The version of the door's form. One of another version is refused.
pub const VERSION: c_uint = 2;

/// What a library's function does; it answers 0, or a `CUresult` that breaks the context as a kernel's fault does. It may be
/// called any number of times until `release`, by any thread, one call at a time, and must not call the Driver API.
pub type Run = unsafe extern "C" fn(data: *mut c_void, memory: *const DoorAccess) -> c_uint;

/// Frees what [`Run`] is given.
pub type ReleaseFn = unsafe extern "C" fn(data: *mut c_void);

/// How a library's function gets at device memory while it runs. Both functions move `rows` rows of `width` bytes, which are
/// `pitch` bytes apart on the device and stand one behind the other at the host's pointer. They answer a
/// `CUresult`: `CUDA_ERROR_ILLEGAL_ADDRESS` for rows that are not inside one allocation each, which is said on stderr.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DoorAccess {
    /// What the functions are given.
    pub state: *mut c_void,
    /// From the device.
    pub read: unsafe extern "C" fn(
        state: *mut c_void,
        address: CUdeviceptr,
        into: *mut c_void,
        width: usize,
        rows: usize,
        pitch: usize,
    ) -> c_uint,
    /// To the device.
    pub write: unsafe extern "C" fn(
        state: *mut c_void,
        address: CUdeviceptr,
        from: *const c_void,
        width: usize,
        rows: usize,
        pitch: usize,
    ) -> c_uint,
}

/// The functions behind the door. All answer a `CUresult`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Door {
    /// Hands work over to a stream. `name` is the function that the program has called. The data is released also where this fails.
    pub enqueue: unsafe extern "C" fn(
        name: *const c_char,
        stream: CUstream,
        run: Run,
        data: *mut c_void,
        release: ReleaseFn,
    ) -> c_uint,
    /// Until the next call, the calling thread loads modules for the sake of the kernel of this name, or, with null, for none in
    /// particular.
    pub wanted_kernel: unsafe extern "C" fn(name: *const c_char) -> c_uint,
}

crate::functions_of_driver! { CallFailure;
    bugarooDoor(version: c_uint, place: *mut *const Door);
}

/// The door of this process's driver, which is never taken away; None where the driver is not Bugaroo's virtual GPU of this
/// version.
pub fn open() -> Option<&'static Door> {
    static DOOR: OnceLock<Option<usize>> = OnceLock::new();
    let ask = || {
        let mut door: *const Door = std::ptr::null();
        // SAFETY: a place for the answer.
        let opened = unsafe { bugarooDoor(VERSION, &raw mut door) };
        (opened.is_ok() && !door.is_null()).then_some(door as usize)
    };
    let door = (*DOOR.get_or_init(ask))?;
    // SAFETY: the driver's own, which it never takes away; null was sorted out.
    Some(unsafe { &*(door as *const Door) })
}
