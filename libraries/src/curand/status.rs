//! What a function answers (`curandStatus_t`).

use std::ffi::{c_int, c_uint};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::unsupported;

/// A `curandStatus_t` other than `CURAND_STATUS_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub c_int);

/// What a function's body gives.
pub type Outcome<T = ()> = Result<T, Status>;

impl Status {
    /// There is no such generator.
    pub const NOT_INITIALIZED: Status = Status(101);
    /// Not for generators of this type, or there is none of it.
    pub const TYPE_ERROR: Status = Status(103);
    /// An argument that the documentation forbids.
    pub const OUT_OF_RANGE: Status = Status(104);
    /// Normal numbers come in pairs.
    pub const LENGTH_NOT_MULTIPLE: Status = Status(105);
    /// The device failed.
    pub const LAUNCH_FAILURE: Status = Status(201);
    /// There is no device.
    pub const INITIALIZATION_FAILED: Status = Status(203);
    /// A fault of this library's own, or what it does not do.
    pub const INTERNAL_ERROR: Status = Status(999);
}

impl From<c_uint> for Status {
    /// What a `CUresult` is called here.
    fn from(result: c_uint) -> Status {
        match result {
            // CUDA_ERROR_NOT_INITIALIZED, _NO_DEVICE, _NOT_SUPPORTED: no driver, or not ours.
            3 | 100 | 801 => Status::INITIALIZATION_FAILED,
            _ => Status::LAUNCH_FAILURE,
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

/// Says what this version does not do.
pub fn unsupported(what: &str) -> Status {
    unsupported::unsupported(&format!("{what} is not supported"));
    Status::TYPE_ERROR
}
