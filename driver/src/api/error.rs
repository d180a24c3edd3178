//! What error codes are called (CUDA Driver API, "Error Handling").

use std::ffi::{CStr, c_char, c_uint};

use crate::api::entry::anytime;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::places::write;

/// Stores a code's text where `text` points, or null for a code that there is none of.
fn tell(text: *mut *const c_char, found: Option<&'static CStr>) -> CallResult {
    // SAFETY: the program passes a place for a pointer, or null, which `write` refuses.
    unsafe { write(text, found.map_or(std::ptr::null(), CStr::as_ptr)) }?;
    found.map(|_| ()).ok_or(Status::InvalidValue)
}

/// The name of an error code. `CUDA_ERROR_INVALID_VALUE` when there is no such code.
///
/// # Safety
/// `text` is null or points to a place for a pointer.
pub unsafe extern "C" fn cuGetErrorName(error: c_uint, text: *mut *const c_char) -> Status {
    anytime("cuGetErrorName", || tell(text, Status::from_code(error).map(Status::name)))
}

/// The description of an error code. `CUDA_ERROR_INVALID_VALUE` when there is no such code.
///
/// # Safety
/// `text` is null or points to a place for a pointer.
pub unsafe extern "C" fn cuGetErrorString(error: c_uint, text: *mut *const c_char) -> Status {
    anytime("cuGetErrorString", || tell(text, Status::from_code(error).map(Status::description)))
}
