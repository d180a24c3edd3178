//! Versions, and the driver's functions by name (CUDA Runtime API, "Version Management", "Driver Entry
//! Point Access").

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use crate::api::api;
use crate::context::initialise;
use crate::driver::{cuDriverGetVersion, driver};
use crate::error::{RuntimeError, RuntimeResult};
use crate::types::write;

driver! {
    cuGetProcAddress_v2(name: *const c_char, place: *mut *mut c_void, version: c_int, flags: c_ulonglong, found: *mut c_uint);
}

/// `CUDART_VERSION` of the library that is stood in for.
const VERSION: c_int = 13000;
/// The same of the last CUDA 12.
const VERSION_12: c_int = 12090;
/// `cudaEnablePerThreadDefaultStream`
const PER_THREAD: c_ulonglong = 2;

/// Looks a function of the driver's up, as a version knew it.
///
/// # Safety
/// As for `cuGetProcAddress`.
unsafe fn look_up(
    name: *const c_char,
    place: *mut *mut c_void,
    version: c_int,
    flags: c_ulonglong,
    found: *mut c_uint,
) -> RuntimeResult {
    initialise()?;
    // SAFETY: the caller's promise.
    unsafe { cuGetProcAddress_v2(name, place, version, flags, found) }
}

/// The flags that a `_ptsz` function means by those it was given.
fn per_thread(flags: c_ulonglong) -> c_ulonglong {
    if flags == 0 { PER_THREAD } else { flags }
}

/// A version as the driver takes it.
fn signed(version: c_uint) -> RuntimeResult<c_int> {
    c_int::try_from(version).map_err(|_| RuntimeError::INVALID_VALUE)
}

api! {
    /// 0 when there is no driver.
    anytime cudaDriverGetVersion(place: *mut c_int) {
        let mut version = 0;
        match cuDriverGetVersion(&raw mut version) {
            Ok(()) | Err(RuntimeError::INSUFFICIENT_DRIVER) => write(place, version),
            Err(error) => Err(error),
        }
    }
    anytime cudaRuntimeGetVersion(place: *mut c_int) { write(place, VERSION) }
    anytime cudaRuntimeGetVersion_v12(place: *mut c_int) { write(place, VERSION_12) }
    anytime cudaGetDriverEntryPoint(name: *const c_char, place: *mut *mut c_void, flags: c_ulonglong, found: *mut c_uint) {
        look_up(name, place, VERSION, flags, found)
    }
    anytime cudaGetDriverEntryPoint_ptsz(name: *const c_char, place: *mut *mut c_void, flags: c_ulonglong, found: *mut c_uint) {
        look_up(name, place, VERSION, per_thread(flags), found)
    }
    anytime cudaGetDriverEntryPoint_v12(name: *const c_char, place: *mut *mut c_void, flags: c_ulonglong, found: *mut c_uint) {
        look_up(name, place, VERSION_12, flags, found)
    }
    anytime cudaGetDriverEntryPoint_ptsz_v12(name: *const c_char, place: *mut *mut c_void, flags: c_ulonglong, found: *mut c_uint) {
        look_up(name, place, VERSION_12, per_thread(flags), found)
    }
    anytime cudaGetDriverEntryPointByVersion(
        name: *const c_char, place: *mut *mut c_void, version: c_uint, flags: c_ulonglong, found: *mut c_uint,
    ) {
        look_up(name, place, signed(version)?, flags, found)
    }
    anytime cudaGetDriverEntryPointByVersion_ptsz(
        name: *const c_char, place: *mut *mut c_void, version: c_uint, flags: c_ulonglong, found: *mut c_uint,
    ) {
        look_up(name, place, signed(version)?, per_thread(flags), found)
    }
    /// It does nothing on devices that have double precision, as the documentation says.
    anytime cudaSetDoubleForDevice(_place: *mut f64) { Ok(()) }
    anytime cudaSetDoubleForHost(_place: *mut f64) { Ok(()) }
}
