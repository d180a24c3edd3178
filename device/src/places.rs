//! Places of the program's that results go to and names come from.

use crate::error::{CallResult, Status};

/// Stores a result where the program wants it.
///
/// # Errors
/// `InvalidValue` when the place is null.
///
/// # Safety
/// `place` is null or points to memory for a `T` (it need not be aligned).
pub unsafe fn write<T>(place: *mut T, value: T) -> CallResult {
    if place.is_null() {
        return Err(Status::InvalidValue);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Stores a result unless the program does not want it (null).
///
/// # Safety
/// As for [`write`].
pub unsafe fn write_if_wanted<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not null, and the caller vouches for the rest.
        unsafe { place.write_unaligned(value) };
    }
}

/// Refuses null: for pointers whose target is only used on the way.
///
/// # Errors
/// `InvalidValue` when it is null.
pub fn not_null<T>(pointer: *const T) -> CallResult {
    if pointer.is_null() { Err(Status::InvalidValue) } else { Ok(()) }
}

/// A program's C string.
///
/// # Errors
/// `InvalidValue` when it is null or not UTF-8 (no name that we hand out is anything else).
///
/// # Safety
/// `text` is null or points to a NUL-terminated string that outlives `'a`.
pub unsafe fn text<'a>(text: *const std::ffi::c_char) -> CallResult<&'a str> {
    not_null(text)?;
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_str().map_err(|_| Status::InvalidValue)
}

/// What a pointer of the program points to.
///
/// # Safety
/// It is null or points to a `T`.
pub unsafe fn read<T: Copy>(from: *const T) -> CallResult<T> {
    not_null(from)?;
    // SAFETY: not null, and the caller vouches for the rest.
    Ok(unsafe { from.read_unaligned() })
}
