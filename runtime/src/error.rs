//! What can go wrong (`cudaError_t`), and what a driver's error is called here.
//!
//! From CUDA 10.1 on the two APIs number the errors that they share alike; the others are listed in
//! [`RuntimeError::from_driver`].

/// An error of the Runtime API: a `cudaError_t` other than `cudaSuccess`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeError(pub i32);

/// What a function's body gives.
pub type RuntimeResult<T = ()> = Result<T, RuntimeError>;

/// `cudaSuccess`
pub const SUCCESS: i32 = 0;

#[allow(missing_docs, reason = "the names are cuda_runtime_api.h's own, without `cudaError`")]
impl RuntimeError {
    pub const INVALID_VALUE: RuntimeError = RuntimeError(1);
    pub const MEMORY_ALLOCATION: RuntimeError = RuntimeError(2);
    pub const INITIALIZATION_ERROR: RuntimeError = RuntimeError(3);
    pub const INVALID_CONFIGURATION: RuntimeError = RuntimeError(9);
    pub const INVALID_PITCH_VALUE: RuntimeError = RuntimeError(12);
    pub const INVALID_SYMBOL: RuntimeError = RuntimeError(13);
    pub const INVALID_CHANNEL_DESCRIPTOR: RuntimeError = RuntimeError(20);
    pub const INVALID_MEMCPY_DIRECTION: RuntimeError = RuntimeError(21);
    pub const INSUFFICIENT_DRIVER: RuntimeError = RuntimeError(35);
    pub const MISSING_CONFIGURATION: RuntimeError = RuntimeError(52);
    pub const INVALID_DEVICE_FUNCTION: RuntimeError = RuntimeError(98);
    pub const NO_DEVICE: RuntimeError = RuntimeError(100);
    pub const INVALID_DEVICE: RuntimeError = RuntimeError(101);
    pub const SYMBOL_NOT_FOUND: RuntimeError = RuntimeError(500);
    pub const NOT_READY: RuntimeError = RuntimeError(600);
    pub const LAUNCH_OUT_OF_RESOURCES: RuntimeError = RuntimeError(701);
    pub const NOT_SUPPORTED: RuntimeError = RuntimeError(801);
    pub const UNKNOWN: RuntimeError = RuntimeError(999);

    /// What a driver's `CUresult` other than `CUDA_SUCCESS` is called in this API.
    pub fn from_driver(result: i32) -> RuntimeError {
        RuntimeError(result)
    }
}
