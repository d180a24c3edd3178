//! Access of devices to each other's memory (CUDA Driver API, "Peer Context Memory Access"): there is one device, and
//! no peer. Here, too: what else a context could be limited to.

use std::ffi::{c_char, c_int, c_uint};

use crate::entry::{not_null, with_context, with_driver, write};
use crate::error::Status;
use crate::primary::check_device;
use crate::types::{CUcontext, CUdevice};

/// Lets the current context use the memory of a peer: of contexts of one device none is another's peer.
pub extern "C" fn cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint) -> Status {
    with_context("cuCtxEnablePeerAccess", |driver, _| {
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        driver.context(peer)?;
        Err(Status::PeerAccessUnsupported)
    })
}

/// Takes access to a peer's memory back.
pub extern "C" fn cuCtxDisablePeerAccess(peer: CUcontext) -> Status {
    with_context("cuCtxDisablePeerAccess", |driver, _| {
        driver.context(peer)?;
        Err(Status::PeerAccessNotEnabled)
    })
}

/// What the way between two devices is like: there are no two.
///
/// # Safety
/// `place` is null or points to a place for a number, which is not used.
pub unsafe extern "C" fn cuDeviceGetP2PAttribute(
    place: *mut c_int,
    attribute: c_uint,
    from: CUdevice,
    to: CUdevice,
) -> Status {
    with_driver("cuDeviceGetP2PAttribute", |_| {
        not_null(place)?;
        if !(1..=5).contains(&attribute) {
            return Err(Status::InvalidValue);
        }
        check_device(from)?;
        check_device(to)?;
        // The same device twice is none that there is a way to.
        Err(Status::InvalidDevice)
    })
}

/// A number of the device that other operating systems give it.
///
/// # Safety
/// Nothing is written.
pub unsafe extern "C" fn cuDeviceGetLuid(_luid: *mut c_char, _mask: *mut c_uint, device: CUdevice) -> Status {
    with_driver("cuDeviceGetLuid", |_| {
        check_device(device)?;
        Err(Status::NotSupported)
    })
}

/// How many SMs the current context may use: all.
///
/// # Safety
/// `place` is null or points to a place for a `CUexecAffinityParam`.
pub unsafe extern "C" fn cuCtxGetExecAffinity(place: *mut [c_uint; 2], kind: c_uint) -> Status {
    with_context("cuCtxGetExecAffinity", |driver, _| {
        if kind != 0 {
            return Err(Status::UnsupportedExecAffinity);
        }
        // SAFETY: the caller's promise.
        unsafe { write(place, [kind, driver.config.sm_count]) }
    })
}
