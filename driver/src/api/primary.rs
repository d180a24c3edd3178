//! The devices' primary contexts (CUDA Driver API, "Primary Context Management"): one of each device for the whole
//! process, alive while anybody retains it. Its handle stays the same all the while.

use std::ffi::{c_int, c_uint};

use bugaroo_cuda_abi::{CUcontext, CUdevice};

use crate::api::entry::with_gpu;
use crate::api::kept;
use bugaroo_device::error::Status;
use bugaroo_device::objects::context::check_flags;
use bugaroo_device::objects::primary::{Primary, check_device};
use bugaroo_device::places::{not_null, write};
use bugaroo_device::primary::start_afresh;

/// Lets a primary context's work come to its end, and tells those who keep something with it, if it is about to end.
fn finish_primary(name: &str, device: CUdevice, ends: impl FnOnce(&Primary) -> bool) {
    let mut found = None;
    // Where there is no such device, the caller says so.
    let _ = with_gpu(name, |gpu| {
        let primary = gpu.primary(device)?;
        found = Some((primary.handle, ends(primary)));
        Ok(())
    });
    if let Some((primary, ends)) = found {
        // What went wrong goes with the context.
        let _ = crate::api::wait::finish_context(name, primary);
        if ends {
            kept::tell_end(name, primary);
        }
    }
}

/// Retains a primary context.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(place: *mut CUcontext, device: CUdevice) -> Status {
    with_gpu("cuDevicePrimaryCtxRetain", |gpu| {
        check_device(device)?;
        not_null(place)?;
        let primary = gpu.primary(device)?;
        primary.retained += 1;
        let handle = primary.handle;
        if primary.retained == 1 {
            start_afresh(gpu, device)?;
        }
        // SAFETY: the caller's promise.
        unsafe { write(place, handle) }
    })
}

/// Releases a primary context; the last release destroys it.
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(device: CUdevice) -> Status {
    finish_primary("cuDevicePrimaryCtxRelease_v2", device, |primary| primary.retained == 1);
    with_gpu("cuDevicePrimaryCtxRelease_v2", |gpu| {
        let primary = gpu.primary(device)?;
        if !primary.active() {
            return Err(Status::InvalidContext);
        }
        primary.retained -= 1;
        if primary.active() {
            return Ok(());
        }
        gpu.end_library_modules(device);
        start_afresh(gpu, device)
    })
}

/// Destroys what a primary context owns, and its fault; it stays as often retained as it was.
pub extern "C" fn cuDevicePrimaryCtxReset_v2(device: CUdevice) -> Status {
    finish_primary("cuDevicePrimaryCtxReset_v2", device, |_| true);
    with_gpu("cuDevicePrimaryCtxReset_v2", |gpu| {
        gpu.end_library_modules(device);
        start_afresh(gpu, device)
    })
}

/// The primary context's flags, and whether it is alive.
///
/// # Safety
/// Each is null, which is refused, or points to a place for a number.
pub unsafe extern "C" fn cuDevicePrimaryCtxGetState(
    device: CUdevice,
    flags: *mut c_uint,
    active: *mut c_int,
) -> Status {
    with_gpu("cuDevicePrimaryCtxGetState", |gpu| {
        let primary = gpu.primary(device)?;
        not_null(flags)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write(active, c_int::from(primary.active()))?;
            write(flags, primary.flags)
        }
    })
}

/// Sets the primary context's flags.
pub extern "C" fn cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, flags: c_uint) -> Status {
    with_gpu("cuDevicePrimaryCtxSetFlags_v2", |gpu| {
        check_device(device)?;
        check_flags(flags)?;
        let primary = gpu.primary(device)?;
        primary.flags = flags;
        let handle = primary.handle;
        gpu.owners.contexts.get_mut(handle)?.flags = flags;
        Ok(())
    })
}
