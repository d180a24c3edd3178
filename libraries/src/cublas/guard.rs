//! What stands around every function: handles are numbers, and panics end in a status.

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::status::{Outcome, Status};

/// A `cublasHandle_t`.
pub type Handle = *mut c_void;

/// Runs a function's body.
pub fn anytime(name: &str, body: impl FnOnce() -> Outcome) -> c_int {
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        eprintln!("bugaroo: internal error in {name} (see above): please report it");
        Err(Status::INTERNAL_ERROR)
    });
    outcome.err().map_or(0, |status| status.0)
}
