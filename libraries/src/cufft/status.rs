//! What a function answers (`cufftResult`).

use std::ffi::{c_int, c_uint};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A `cufftResult` other than `CUFFT_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub c_int);

/// What a function's body gives.
pub type Outcome<T = ()> = Result<T, Status>;

impl Status {
    /// There is no such plan.
    pub const INVALID_PLAN: Status = Status(1);
    /// No such type of transform.
    pub const INVALID_TYPE: Status = Status(3);
    /// An argument that the documentation forbids.
    pub const INVALID_VALUE: Status = Status(4);
    /// A fault of this library's own.
    pub const INTERNAL_ERROR: Status = Status(5);
    /// The device failed.
    pub const EXEC_FAILED: Status = Status(6);
    /// There is no device.
    pub const SETUP_FAILED: Status = Status(7);
    /// An extent that cannot be.
    pub const INVALID_SIZE: Status = Status(8);
}

impl From<c_uint> for Status {
    /// What a `CUresult` is called here.
    fn from(result: c_uint) -> Status {
        match result {
            // CUDA_ERROR_NOT_INITIALIZED, _NO_DEVICE, _NOT_SUPPORTED: no driver, or not ours.
            3 | 100 | 801 => Status::SETUP_FAILED,
            _ => Status::EXEC_FAILED,
        }
    }
}

/// Runs a function's body.
pub fn anytime(name: &str, body: impl FnOnce() -> Outcome) -> c_int {
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        eprintln!("bugaroo: internal error in {name} (see above): please report it");
        Err(Status::INTERNAL_ERROR)
    });
    outcome.err().map_or(0, |status| status.0)
}
