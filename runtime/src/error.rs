//! What can go wrong (`cudaError_t`), and what a driver's error is called here.
//!
//! From CUDA 10.1 on the two APIs number the errors that they share alike; the others are listed in
//! [`Error::from_driver`].

/// An error of the Runtime API: a `cudaError_t` other than `cudaSuccess`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub i32);

/// What a function's body gives.
pub type Outcome<T = ()> = Result<T, Error>;

/// `cudaSuccess`
pub const SUCCESS: i32 = 0;

#[allow(missing_docs, reason = "the names are cuda_runtime_api.h's own, without `cudaError`")]
impl Error {
    pub const INVALID_VALUE: Error = Error(1);
    pub const MEMORY_ALLOCATION: Error = Error(2);
    pub const INITIALIZATION_ERROR: Error = Error(3);
    pub const INVALID_CONFIGURATION: Error = Error(9);
    pub const INVALID_PITCH_VALUE: Error = Error(12);
    pub const INVALID_SYMBOL: Error = Error(13);
    pub const INVALID_CHANNEL_DESCRIPTOR: Error = Error(20);
    pub const INVALID_MEMCPY_DIRECTION: Error = Error(21);
    pub const INSUFFICIENT_DRIVER: Error = Error(35);
    pub const MISSING_CONFIGURATION: Error = Error(52);
    pub const INVALID_DEVICE_FUNCTION: Error = Error(98);
    pub const NO_DEVICE: Error = Error(100);
    pub const INVALID_DEVICE: Error = Error(101);
    pub const SYMBOL_NOT_FOUND: Error = Error(500);
    pub const NOT_READY: Error = Error(600);
    pub const LAUNCH_OUT_OF_RESOURCES: Error = Error(701);
    pub const NOT_SUPPORTED: Error = Error(801);
    pub const UNKNOWN: Error = Error(999);

    /// What a driver's `CUresult` other than `CUDA_SUCCESS` is called in this API.
    pub fn from_driver(result: i32) -> Error {
        Error(result)
    }
}
