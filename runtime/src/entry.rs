//! What every function of the API does first and last: see to it that there is a device, catch panics, and
//! keep the error for `cudaGetLastError`.

use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::context;
use crate::error::{RuntimeError, RuntimeResult, SUCCESS};

thread_local! {
    /// What `cudaGetLastError` gives.
    static LAST: Cell<c_int> = const { Cell::new(SUCCESS) };
}

/// The last error of the calling thread; `reset` forgets it.
pub fn last_error(reset: bool) -> c_int {
    if reset { LAST.replace(SUCCESS) } else { LAST.get() }
}

/// Runs a function's body that needs no device. Its error is kept, but for `cudaErrorNotReady`, which
/// is an answer.
pub fn anytime(name: &str, body: impl FnOnce() -> RuntimeResult) -> c_int {
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        eprintln!("bugaroo: internal error in {name} (see above): please report it");
        Err(RuntimeError::UNKNOWN)
    });
    match outcome {
        Ok(()) => SUCCESS,
        Err(error) => {
            if error != RuntimeError::NOT_READY {
                LAST.set(error.0);
            }
            error.0
        }
    }
}

/// The same for a function that needs a current context.
pub fn with_device(name: &str, body: impl FnOnce() -> RuntimeResult) -> c_int {
    anytime(name, || {
        context::ready()?;
        body()
    })
}
