//! `CONTEXT_CHECKS`: whether a context is what it seems.
//!
//! Nobody has seen the real driver say that one is not. What else there could be (a context that stands for another one) this driver does
//! not have.

use std::ffi::{c_uint, c_void};

use bugaroo_cuda_abi::CUcontext;

use crate::api::entry::anytime;
use crate::api::export::table::{Word, words};
use bugaroo_device::error::Status;
use bugaroo_device::places::write;

/// The table.
pub static TABLE: [Word; 4] = words! { 4: (size 4) 1 of_context of_all };

/// Slot 2: whether a context stands for another one, and for which: no, and so the second place is left as it is.
///
/// # Safety
/// `answer` is null or points to a place for a number.
unsafe extern "C" fn of_context(
    _context: CUcontext,
    answer: *mut c_uint,
    _other: *mut *const c_void,
) -> Status {
    // SAFETY: the caller's promise.
    anytime("CONTEXT_CHECKS", || unsafe { write(answer, 0) })
}

/// Slot 3: the same of all contexts.
extern "C" fn of_all() -> c_uint {
    0
}
