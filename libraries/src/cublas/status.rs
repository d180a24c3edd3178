//! What a function answers (`cublasStatus_t`).

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use bugaroo_cuda_abi::{FunctionAddress, Functions};

/// A `cublasStatus_t` other than `CUBLAS_STATUS_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub c_int);

/// What a function's body gives.
pub type Outcome<T = ()> = Result<T, Status>;

impl Status {
    /// There is no such handle, or no device.
    pub const NOT_INITIALIZED: Status = Status(1);
    /// No memory.
    pub const ALLOC_FAILED: Status = Status(3);
    /// An argument that the documentation forbids.
    pub const INVALID_VALUE: Status = Status(7);
    /// Memory could not be copied.
    pub const MAPPING_ERROR: Status = Status(11);
    /// The device failed.
    pub const EXECUTION_FAILED: Status = Status(13);
    /// A fault of this library's own.
    pub const INTERNAL_ERROR: Status = Status(14);
    /// This version does not do that.
    pub const NOT_SUPPORTED: Status = Status(15);
}

impl From<c_uint> for Status {
    /// What a `CUresult` is called here.
    fn from(result: c_uint) -> Status {
        match result {
            // CUDA_ERROR_OUT_OF_MEMORY
            2 => Status::ALLOC_FAILED,
            // CUDA_ERROR_NOT_INITIALIZED, _NO_DEVICE, _NOT_SUPPORTED: no driver, or not ours.
            3 | 100 | 801 => Status::NOT_INITIALIZED,
            _ => Status::EXECUTION_FAILED,
        }
    }
}

/// Statuses with their names and what is said about them.
const STATUSES: [(c_int, &CStr, &CStr); 10] = [
    (0, c"CUBLAS_STATUS_SUCCESS", c"success"),
    (1, c"CUBLAS_STATUS_NOT_INITIALIZED", c"the library was not initialized"),
    (3, c"CUBLAS_STATUS_ALLOC_FAILED", c"the resource allocation failed"),
    (7, c"CUBLAS_STATUS_INVALID_VALUE", c"an unsupported value or parameter was passed to the function"),
    (8, c"CUBLAS_STATUS_ARCH_MISMATCH", c"the function requires a feature that the device lacks"),
    (11, c"CUBLAS_STATUS_MAPPING_ERROR", c"an access to GPU memory space failed"),
    (13, c"CUBLAS_STATUS_EXECUTION_FAILED", c"the function failed to launch on the GPU"),
    (14, c"CUBLAS_STATUS_INTERNAL_ERROR", c"an internal operation failed"),
    (15, c"CUBLAS_STATUS_NOT_SUPPORTED", c"the functionality is not supported"),
    (16, c"CUBLAS_STATUS_LICENSE_ERROR", c"the functionality requires a license"),
];

fn known(status: c_int) -> Option<&'static (c_int, &'static CStr, &'static CStr)> {
    STATUSES.iter().find(|(number, ..)| *number == status)
}

/// The name of a status.
pub extern "C" fn name(status: c_int) -> *const c_char {
    known(status).map_or(c"<unknown>", |(_, name, _)| name).as_ptr()
}

/// What is said about one.
pub extern "C" fn text(status: c_int) -> *const c_char {
    known(status).map_or(c"<unknown>", |(.., text)| text).as_ptr()
}

/// The functions of this file, by name.
pub static FUNCTIONS: Functions = &[
    ("cublasGetStatusName", FunctionAddress(name as *const c_void)),
    ("cublasGetStatusString", FunctionAddress(text as *const c_void)),
];
