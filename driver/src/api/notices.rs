//! What a driver tells a program unasked (CUDA Driver API, "Error Log Management Functions", "Device Management",
//! asynchronous notifications). This one says what it has to say on standard error at once: its log stays empty, and nobody
//! is ever notified, as no budget of memory is set. Who wants to be told is registered all the same.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::api::entry::{anytime, with_gpu};
use bugaroo_device::error::Status;
use bugaroo_device::objects::primary::check_device;
use bugaroo_device::places::{not_null, text, write};

/// Registers a function that is called for each entry of the log: never.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuLogsRegisterCallback(
    function: *const c_void,
    _data: *mut c_void,
    place: *mut *mut c_void,
) -> Status {
    with_gpu("cuLogsRegisterCallback", |gpu| {
        not_null(function)?;
        not_null(place)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, gpu.owners.listeners.logs.insert(())) }
    })
}

/// Takes such a function back.
pub extern "C" fn cuLogsUnregisterCallback(listener: *mut c_void) -> Status {
    with_gpu("cuLogsUnregisterCallback", |gpu| {
        gpu.owners.listeners.logs.remove(listener).map_err(|_| Status::InvalidValue)
    })
}

/// Where the log ends: where it begins.
///
/// # Safety
/// `place` is null or points to a place for an iterator.
pub unsafe extern "C" fn cuLogsCurrent(place: *mut c_uint, flags: c_uint) -> Status {
    anytime("cuLogsCurrent", || {
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        // SAFETY: the caller's promise.
        unsafe { write(place, 0) }
    })
}

/// Writes the log to a file.
///
/// # Safety
/// `iterator` is not used; `path` is null or a string.
pub unsafe extern "C" fn cuLogsDumpToFile(
    _iterator: *mut c_uint,
    path: *const c_char,
    flags: c_uint,
) -> Status {
    anytime("cuLogsDumpToFile", || {
        // SAFETY: the caller's promise.
        let path = unsafe { text(path) }?;
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        std::fs::write(path, "").map_err(|_| Status::OperatingSystem)
    })
}

/// Writes the log to memory, as a string.
///
/// # Safety
/// `size` is null or points to how many bytes there are at `buffer`, which is null or points to them.
pub unsafe extern "C" fn cuLogsDumpToMemory(
    _iterator: *mut c_uint,
    buffer: *mut c_char,
    size: *mut usize,
    flags: c_uint,
) -> Status {
    anytime("cuLogsDumpToMemory", || {
        not_null(size)?;
        not_null(buffer)?;
        // SAFETY: not null, and the caller's promise, for both.
        unsafe {
            if flags != 0 || size.read_unaligned() == 0 {
                return Err(Status::InvalidValue);
            }
            buffer.write(0);
            write(size, 0)
        }
    })
}

/// Registers a function that is called when a device's memory budget is exceeded: there is none.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuDeviceRegisterAsyncNotification(
    device: c_int,
    function: *const c_void,
    _data: *mut c_void,
    place: *mut *mut c_void,
) -> Status {
    with_gpu("cuDeviceRegisterAsyncNotification", |gpu| {
        check_device(device)?;
        not_null(function)?;
        not_null(place)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, gpu.owners.listeners.device.insert(())) }
    })
}

/// Takes such a function back.
pub extern "C" fn cuDeviceUnregisterAsyncNotification(device: c_int, listener: *mut c_void) -> Status {
    with_gpu("cuDeviceUnregisterAsyncNotification", |gpu| {
        check_device(device)?;
        gpu.owners.listeners.device.remove(listener).map_err(|_| Status::InvalidValue)
    })
}
